//! Tasks outside the pages that both programs share: the catalog of models and instances, the state for tests, the address.

use crate::state::StateDispatcher;
use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::platform::focus;
use super::platform::page::{self, PagePhase};
use super::platform::url;
use super::worker::{Pool, Program};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_whole_share;
use ns_page::RunState;
use ns_page::Shared;

use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::replies::answer_of;
use ns_session::share::Page;
use ns_session::{Catalog, QuestionRequest, Reply};

/// Time from the last change of a view until the address follows it.
const URL_DELAY_MS: u32 = 120;

/// The catalog of models and instances: `None` until a worker has sent it, or the reason why it cannot.
pub type CatalogState = Option<Result<Shared<Catalog>, AttrValue>>;

/// Asks a worker for the catalog, once it `is_wanted`: one that runs, or a new one of this program.
#[hook]
pub fn use_catalog(
    is_wanted: bool,
    pool: &Pool,
    program: Program,
    notices: &StateDispatcher<Notices>,
) -> UseStateHandle<CatalogState> {
    let catalog = use_state_eq(|| CatalogState::None);
    let is_wanted = is_wanted || catalog.is_some();
    use_effect_with(is_wanted, {
        let (pool, catalog, notices) = (pool.clone(), catalog.setter(), notices.clone());
        move |is_wanted| {
            if !is_wanted {
                return;
            }
            let failed = {
                let catalog = catalog.clone();
                move |message: String| {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, message.clone()));
                    catalog.set(Some(Err(message.into())));
                }
            };
            match pool.any(program) {
                Ok(engine) => {
                    let take = |reply| if let Reply::Catalog(list) = reply { Some(list) } else { None };
                    let on_message = Callback::from(move |message| match answer_of(message, take) {
                        Some(Ok(list)) => {
                            let list = Shared::new(list);
                            pool.keep_catalog(list.clone());
                            catalog.set(Some(Ok(list)));
                        }
                        Some(Err(message)) => failed(message),
                        None => {}
                    });
                    engine.send(QuestionRequest::Catalog, None, on_message);
                }
                Err(message) => failed(message),
            }
        }
    });
    catalog
}

/// Publishes a page's activity for tests and styles, and in the title of the tab. Does nothing for the other program's pages. A page that
/// `is_about_to_run` by itself is loading until then: a drawing in between would show the foot of a page without results.
#[hook]
pub fn use_page_state(
    page: Option<Page>,
    catalog: Option<&Result<Shared<Catalog>, AttrValue>>,
    run: &RunState,
    is_about_to_run: bool,
) {
    let state = match (catalog, run) {
        (_, RunState::Running { .. }) => PagePhase::Running,
        (_, RunState::Failed(_)) | (Some(Err(_)), RunState::Idle) => PagePhase::Failed,
        (None, _) => PagePhase::Loading,
        (Some(Ok(_)), RunState::Idle) if is_about_to_run => PagePhase::Loading,
        (_, RunState::Done) => PagePhase::Done,
        (_, RunState::Idle | RunState::Cancelled) => PagePhase::Idle,
    };
    let title = page.map(|page| match run {
        RunState::Running { done, total, .. } if *total > 0 => {
            format!(
                "{} \u{2013} {} \u{2013} neuronscope",
                format_whole_share(u64_to_f64(*done) / u64_to_f64(*total) * 100.0),
                page.title()
            )
        }
        _ => format!("{} \u{2013} neuronscope", page.title()),
    });
    let is_shown = title.is_some();
    use_effect_with((state, title), |(state, title)| {
        if let Some(title) = title {
            page::set_state(*state);
            page::set_title(title);
        }
    });
    use_effect_with((state, is_shown), |(state, is_shown)| {
        if *is_shown {
            page::say(state.announcement().unwrap_or_default());
            focus::mend(*state != PagePhase::Running);
        }
    });
}

/// Keeps the focus from getting lost. Each program remembers it for its own pages: they share a document, but no memory.
#[hook]
pub fn use_kept_focus() {
    use_effect_with((), |()| {
        let listeners = focus::watch();
        move || drop(listeners)
    });
}

/// Puts the hash of the view into the address: at once if an action led to another view, so that Back returns from it at any time,
/// else once the view has come to rest. `number` counts the addresses that were opened: a page that stays as it was left puts its own in
/// the place of one without fields. A page that shows its form only (not `is_asked`) leaves the address that filled it: it waits for Run.
#[hook]
pub fn use_hash(hash: Option<String>, number: u32, is_asked: bool) {
    let latest = use_mut_ref(|| None::<u32>);

    // The address that the page showed when its hash changed last.
    let seen = use_mut_ref(String::new);
    use_effect_with((hash, number, is_asked), move |(hash, number, is_asked)| {
        let is_given = latest.replace(Some(*number)) != Some(*number);
        let hash = &hash.clone().filter(|_| *is_asked || !is_given);
        let noted = url::current_address();
        // An address that was given in between takes precedence: the page still shows the view before it, and changes in a moment.
        let is_led = seen.replace(noted.clone()) != noted;
        let is_now = move || url::current_address() == noted;
        let show = move |hash: &str| {
            url::show_hash(hash);
            *seen.borrow_mut() = url::current_address();
        };
        let timer = match hash.clone() {
            Some(hash) if !is_led && url::is_new_entry(&hash) => {
                show(&hash);
                None
            }
            other => other.map(|hash| {
                let pending = url::PendingAddress::new();
                Timeout::new(URL_DELAY_MS, move || {
                    // Meanwhile another address may have come, whose view is not drawn yet.
                    if is_now() {
                        show(&hash);
                    }
                    drop(pending);
                })
            }),
        };
        move || drop(timer)
    });
}
