//! The app: the head of the page, files, profiles. It decides which page is shown; the lab (`lab.rs`) shows the other pages.

use std::cell::Cell;

use crate::state::{StateDispatcher, StateHandle, use_reduced};
use gloo_events::EventListener;
use web_sys::File;
use yew::prelude::*;

use super::bridge;
use super::components::{FileDrop, notice_list, on, progress_bar, set};
use super::context::{AppContext, JobSlot};
use super::file_routes::{LastModel, on_files};
use super::frame::{use_catalog, use_hash, use_kept_focus, use_page_state};
use super::head::SiteHead;
use super::model_files::{linked_hash, open_linked, use_models};
use super::pages::finder::Finder;
use super::pages::landing::landing_page;
use super::pages::profile::{ProfileActions, ProfilePage, open_for_profile};
use super::platform::folder::bundle_files;
use super::platform::page::PagePhase;
use super::platform::{page, panic, theme, url};
use super::shelf::use_shelf;
use super::state::{ProfileAction, ProfileState};
use super::worker::{KnownModel, Pool, Program};
use ns_page::RunState;
use ns_page::file_queue::FileQueue;
use ns_page::history::{Following, profile_follows};
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_session::build_id;
use ns_session::share::{Address, Page, ProfileLink};
use ns_session::shelf::ShelfItem;
use ns_view::palette::Theme;

/// Starts the page.
pub fn start() {
    panic::install_for_page();
    if let Some(root) = page::element(bridge::APP_ELEMENT) {
        yew::Renderer::<App>::with_root(root).render();
    }
}

#[component]
fn App() -> Html {
    let pool = (*use_memo((), |()| Pool::default())).clone();
    let notices = use_reduced(Notices::default);
    let profile = use_reduced(ProfileState::default);
    let file_queue = use_reduced(FileQueue::default);
    // The address's page from the first drawing on: the start page would stand there for a moment.
    let address = use_state_eq(|| ShownAddress { page: Address::read(&url::read_hash()).page(), number: 0 });
    let current = address.page;
    let last_model = (*use_memo((), |()| LastModel::default())).clone();
    let theme = use_state_eq(theme::initial);
    let job = (*use_memo((), |()| JobSlot::default())).clone();
    let is_lab_ready = use_lab(*address, *theme);

    use_theme(*theme);
    use_kept_focus();
    let models = use_models(&pool);
    let is_mine = !bridge::is_in_lab(current);
    use_hash(hash_of(current, &profile, &models.known), address.number, current != Page::Profile || profile.is_asked());
    let catalog = use_catalog(is_mine, &pool, Program::Viewer, &notices.dispatcher());
    // The page waits for a model file that is being read from the browser's store, as it waits for the workers.
    let catalog = (*catalog).clone().filter(|_| !models.is_awaited);
    let run = file_queue.beside(if current == Page::Profile { &profile.run } else { &RunState::Idle });
    let is_about_to_run = current == Page::Profile && (profile.wants_run || profile.wants_file);
    use_page_state(is_mine.then_some(current), catalog.as_ref(), &run, is_about_to_run);
    use_loading_state(!is_mine && !is_lab_ready);

    let context = AppContext {
        pool,
        notices: notices.dispatcher(),
        catalog: catalog.as_ref().and_then(|c| c.as_ref().ok()).cloned(),
        models: models.known,
        theme: *theme,
    };
    let kept = use_shelf();
    let is_finding = use_state_eq(|| false);
    let on_find = set(&is_finding, true);
    let offered = context.catalog.clone();
    let foot = use_memo((), |()| page::element(bridge::FOOT_ELEMENT));
    let on_profiles = use_profiles(&context, &profile, &job, &address);
    let on_model = on_model(&context, &profile);
    use_address(&address, &profile.dispatcher(), &context, &last_model, on_model.clone());
    let on_files =
        on_files(current, file_queue.dispatcher(), notices.dispatcher(), on_profiles, on_model, last_model.clone());
    let on_refusal =
        on(notices.dispatcher(), |notices, message: String| notices.dispatch(NoticeAction::Say(Tone::Bad, message)));
    let links: Vec<(Page, AttrValue)> =
        Page::IN_HEAD.map(|to| (to, link_of(to, &profile, &last_model).into())).to_vec();
    html! {
        <ContextProvider<AppContext> context={context}>
            <a class="skip" href="#main" onclick={skip_to_main()}>{ "Skip to content" }</a>
            <SiteHead current={current} links={links.clone()} theme={theme.clone()} on_files={on_files.clone()} {on_find} />
            <Finder pages={links} kept={kept_links(&kept)} profile={profile.clone()} {theme} catalog={offered} is_open={is_finding} />
            { notice_list(&notices, "Notices") }
            // The profile page shows it where the progress of reading stands a moment later.
            if current != Page::Profile && file_queue.is_waiting() {
                <section class="file-queue" aria-label="Files">{ progress_bar(&run) }</section>
            }
            if is_mine {
                <main id="main" tabindex="-1">
                    if current == Page::Home { { landing_page(on_files.clone()) } } else { <ProfilePage state={profile} {run} {job} /> }
                </main>
            }
            { for foot.as_ref().clone().map(|host| create_portal(footer(), host)) }
            <FileDrop {on_files} {on_refusal} />
        </ContextProvider<AppContext>>
    }
}

/// The hash of a page of the app; the lab shows the hashes of its pages itself.
fn hash_of(current: Page, profile: &ProfileState, models: &[KnownModel]) -> Option<String> {
    match current {
        Page::Home => Some(current.hash()),
        Page::Profile if profile.link == ProfileLink::example() && url::hash() == current.hash() => {
            Some(current.hash())
        }
        Page::Profile if profile.link.file.is_none() => {
            Some(linked_hash(models, &profile.link.spec.model, profile.hash()))
        }
        Page::Profile => Some(profile.hash()),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
struct ShownAddress {
    page: Page,
    /// How many addresses were opened before it.
    number: u32,
}

/// A link to a page as the user left it. The link to a page of the lab has no fields, because the lab remembers them; without fields the
/// page of profiles opens with the model that was given last, or its example.
fn link_of(to: Page, profile: &ProfileState, last_model: &LastModel) -> String {
    let is_left = to == Page::Profile && profile.link != ProfileLink::default() && !last_model.waits_for(to);
    if is_left { profile.hash() } else { to.hash() }
}

/// The kept runs and files, for the finder: names and addresses.
fn kept_links(kept: &[ShelfItem]) -> Vec<(AttrValue, AttrValue)> {
    kept.iter().map(|item| (item.name.clone().into(), item.link.clone().into())).collect()
}

fn footer() -> Html {
    html! {
        <footer class="site">
            <p>{ "Simulated NeuronCores, in this browser. Nothing is uploaded." }</p>
            <p>{ format!("neuronscope {}", build_id()) }</p>
        </footer>
    }
}

fn skip_to_main() -> Callback<MouseEvent> {
    // The hash holds the route, so the link must not change it.
    Callback::from(|event: MouseEvent| {
        event.prevent_default();
        page::focus("main");
    })
}

#[hook]
fn use_theme(theme: Theme) {
    use_effect_with((), move |()| theme::apply(theme, false));
}

/// Fetches the lab when one of its pages is shown, and tells it which page. Returns whether the lab listens.
#[hook]
fn use_lab(address: ShownAddress, theme: Theme) -> bool {
    let is_ready = use_state_eq(|| false);
    use_effect_with((), {
        let is_ready = is_ready.setter();
        move |()| {
            let listener = bridge::on_lab_ready(Callback::from(move |()| is_ready.set(true)));
            move || drop(listener)
        }
    });
    use_effect_with(address.page, |page| {
        if bridge::is_in_lab(*page) {
            bridge::fetch_lab();
        }
    });
    use_effect_with((address, theme, *is_ready), |(address, theme, is_ready)| {
        if *is_ready {
            bridge::show(address.page, address.number, *theme);
        }
    });
    *is_ready
}

/// Marks the page as loading while the lab is fetched.
#[hook]
fn use_loading_state(is_loading: bool) {
    use_effect_with(is_loading, |is_loading| {
        if *is_loading {
            page::set_state(PagePhase::Loading);
        }
    });
}

/// Follows the address when it is opened or edited; otherwise the address follows the page. The lab reads an address when it is told its
/// number.
#[hook]
fn use_address(
    address_setter: &UseStateHandle<ShownAddress>,
    profile: &StateDispatcher<ProfileState>,
    context: &AppContext,
    last_model: &LastModel,
    on_model: Callback<File>,
) {
    let (address_setter, profile, last_model) = (address_setter.setter(), profile.clone(), last_model.clone());
    let (pool, notices) = (context.pool.clone(), context.notices.clone());
    let latest = use_mut_ref(|| on_model.clone());
    *latest.borrow_mut() = on_model;
    use_effect_with((), move |()| {
        let number = Cell::new(0);
        let follow = move |is_first: bool| {
            // What was said is about what was shown before.
            notices.dispatch(NoticeAction::Leave);
            let mut address = Address::read(&url::read_hash());
            let page = address.page();
            number.set(number.get() + 1);
            address_setter.set(ShownAddress { page, number: number.get() });
            let file = if address.is_bare() { last_model.take_for(page) } else { None };
            match (page, file) {
                (Page::Profile, Some(file)) => return latest.borrow().emit(file),
                (page, Some(file)) => bridge::give_lab(page, true, vec![file]),
                (Page::Profile, None) => open_profile(&mut address, is_first, &pool, &notices, &profile),
                (_, None) => {}
            }
            // The lab itself says which parts of its links it cannot use.
            if page == Page::Profile || address.has_no_page() {
                for problem in address.notices {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, format!("Link: {}", problem.message)));
                }
            }
        };
        follow(true);
        let listener = web_sys::window().map(|w| EventListener::new(&w, "hashchange", move |_| follow(false)));
        move || drop(listener)
    });
}

/// Asks the page of profiles for what an address names.
fn open_profile(
    address: &mut Address,
    is_first: bool,
    pool: &Pool,
    notices: &StateDispatcher<Notices>,
    profile: &StateDispatcher<ProfileState>,
) {
    let is_bare = address.is_bare();
    let link = Box::new(if is_bare { ProfileLink::example() } else { address.profile() });
    open_linked(pool, notices, address, &link.spec.model);
    match profile_follows(is_first, url::page_of_entry().is_some(), is_bare || url::names_model()) {
        Following::Revisit => profile.dispatch(ProfileAction::Revisit(link)),
        Following::Load { wants_run } => {
            let names_nothing = !wants_run && link.file.is_none();
            profile.dispatch(if names_nothing { ProfileAction::LoadView(link) } else { ProfileAction::Load(link) });
            if wants_run {
                profile.dispatch(ProfileAction::WantRun { is_first });
            }
        }
    }
}

/// Opens files as profiles: several files are one run directory. The lab's files come here too: timelines of its results.
#[hook]
fn use_profiles(
    context: &AppContext,
    profile: &StateHandle<ProfileState>,
    job: &JobSlot,
    address: &UseStateHandle<ShownAddress>,
) -> Callback<Vec<File>> {
    let (dispatch, address) = (profile.dispatcher(), address.clone());
    let actions = ProfileActions { app: context.clone(), state: profile.clone(), job: job.clone() };
    let open = Callback::from(move |files: Vec<File>| {
        let file = match <[File; 1]>::try_from(files) {
            Ok([file]) => Ok(file),
            Err(files) if files.is_empty() => return,
            Err(files) => bundle_files(&files),
        };
        match file {
            Ok(file) => {
                address.set(ShownAddress { page: Page::Profile, ..*address });
                actions.state.dispatch(ProfileAction::FileGiven(file.name()));
                actions.open_file(None, file);
            }
            Err(message) => actions.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        }
    });
    let latest = use_mut_ref(|| open.clone());
    *latest.borrow_mut() = open.clone();
    use_effect_with((), move |()| {
        let listener = bridge::on_files_for_app(Callback::from(move |files| {
            let open = latest.borrow().clone();
            open.emit(files);
            dispatch.dispatch(ProfileAction::TraceAsked);
        }));
        move || drop(listener)
    });
    open
}

/// Opens a model file, and profiles it.
fn on_model(context: &AppContext, profile: &StateHandle<ProfileState>) -> Callback<File> {
    on((context.clone(), profile.dispatcher()), |(context, profile), file: File| {
        open_for_profile(context, profile, file)
    })
}
