//! The page: its head, its routes, and what joins the pages to the address and to the workers.

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use web_sys::File;
use yew::prelude::*;

use super::components::{FileDrop, FilePicker, NoticeList};
use super::context::{AppContext, Shared};
use super::pages::benchmark::{BenchmarkPage, import_file, may_hold_results};
use super::pages::experiments::{ExperimentsPage, is_records_file, read_files};
use super::pages::numerics::NumericsPage;
use super::pages::profile::{ProfilePage, open_file};
use super::pages::study::StudyPage;
use super::platform::folder::bundle_files;
use super::platform::page::PageState;
use super::platform::{offline, page, panic, theme, url};
use super::state::RunState;
use super::state::bench::{BenchAction, BenchState};
use super::state::experiments::{ExperimentsAction, ExperimentsState};
use super::state::notices::{NoticeAction, Notices, Tone};
use super::state::numerics::{NumericsAction, NumericsState};
use super::state::profile::{ProfileAction, ProfileState};
use super::state::study::{StudyAction, StudyState};
use super::sweep::SweepRunner;
use super::worker::{Engine, Pool};
use crate::profile::formats::is_plugin_file;
use crate::session::share::Link;
use crate::session::studies::StudyKind;
use crate::session::{Catalog, Event, JobId, Request, build_id};
use crate::view::palette::Theme;

/// The address follows the view so long after its last change.
const URL_DELAY_MS: u32 = 120;

/// Starts the page.
pub fn start() {
    panic::install_for_page();
    offline::register();
    yew::Renderer::<App>::new().render();
}

/// A job that runs and can be cancelled.
pub type RunningJob = std::rc::Rc<std::cell::RefCell<Option<(Engine, JobId)>>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    Benchmark,
    Profile,
    Numerics,
    Experiments,
    Study(StudyKind),
}

/// The pages, in the order of the head.
const ROUTES: [Route; 6] = [
    Route::Benchmark,
    Route::Profile,
    Route::Numerics,
    Route::Study(StudyKind::Matmult),
    Route::Study(StudyKind::Customop),
    Route::Experiments,
];

impl Route {
    fn from_hash(page: &str) -> Option<Self> {
        match page {
            "#/benchmark" => Some(Self::Benchmark),
            "#/profile" => Some(Self::Profile),
            "#/numerics" => Some(Self::Numerics),
            "#/experiments" => Some(Self::Experiments),
            other => StudyKind::of_path(other.strip_prefix("#/")?).map(Self::Study),
        }
    }
}

/// What the pages show.
#[derive(Clone)]
struct States {
    bench: UseReducerHandle<BenchState>,
    profile: UseReducerHandle<ProfileState>,
    numerics: UseReducerHandle<NumericsState>,
    experiments: UseReducerHandle<ExperimentsState>,
    matmult: UseReducerHandle<StudyState>,
    customop: UseReducerHandle<StudyState>,
}

impl States {
    const fn study(&self, kind: StudyKind) -> &UseReducerHandle<StudyState> {
        match kind {
            StudyKind::Matmult => &self.matmult,
            StudyKind::Customop => &self.customop,
        }
    }

    fn run(&self, route: Route) -> &RunState {
        match route {
            Route::Benchmark => &self.bench.run,
            Route::Profile => &self.profile.run,
            Route::Numerics => &self.numerics.run,
            Route::Experiments => &self.experiments.run,
            Route::Study(kind) => &self.study(kind).run,
        }
    }

    fn link(&self, route: Route) -> Link {
        match route {
            Route::Benchmark => self.bench.link(),
            Route::Profile => self.profile.as_link(),
            Route::Numerics => self.numerics.link(),
            Route::Experiments => self.experiments.link(),
            Route::Study(kind) => self.study(kind).link(),
        }
    }
}

impl Route {
    fn name(self) -> &'static str {
        match self {
            Self::Benchmark => "Benchmark",
            Self::Profile => "Profile",
            Self::Numerics => "Numerics",
            Self::Experiments => "Experiments",
            Self::Study(kind) => kind.form().title,
        }
    }
}

#[component]
fn App() -> Html {
    let pool = (*use_memo((), |()| Pool::default())).clone();
    let notices = use_reducer(Notices::default);
    let bench = use_reducer(BenchState::default);
    let profile = use_reducer(ProfileState::default);
    let numerics = use_reducer(NumericsState::default);
    let experiments = use_reducer(ExperimentsState::default);
    let matmult = use_reducer(|| StudyState::new(StudyKind::Matmult));
    let customop = use_reducer(|| StudyState::new(StudyKind::Customop));
    let route = use_state_eq(|| Route::Benchmark);
    let catalog = use_state_eq(|| None::<Result<Shared<Catalog>, AttrValue>>);
    let theme = use_state_eq(theme::initial);
    let runner = (*use_memo((), |()| SweepRunner::new(pool.clone(), bench.dispatcher(), notices.dispatcher()))).clone();
    let profile_job = use_mut_ref(|| None::<(Engine, JobId)>);
    let numerics_job = use_mut_ref(|| None::<(Engine, JobId)>);
    let experiments_job = use_mut_ref(|| None::<(Engine, JobId)>);
    let matmult_job = use_mut_ref(|| None::<(Engine, JobId)>);
    let customop_job = use_mut_ref(|| None::<(Engine, JobId)>);
    let states = States {
        bench: bench.clone(),
        profile: profile.clone(),
        numerics: numerics.clone(),
        experiments: experiments.clone(),
        matmult: matmult.clone(),
        customop: customop.clone(),
    };

    use_theme(*theme);
    use_address(&route, &states, &notices);
    use_catalog(&pool, &catalog, &notices);
    use_page_state(*route, catalog.as_ref(), &states);

    let context = AppContext {
        pool,
        notices: notices.dispatcher(),
        catalog: catalog.as_ref().and_then(|c| c.as_ref().ok()).cloned(),
        theme: *theme,
    };
    let on_trace = {
        let (context, profile, job, route) = (context.clone(), profile.clone(), profile_job.clone(), route.clone());
        Callback::from(move |file: File| {
            route.set(Route::Profile);
            profile.dispatch(ProfileAction::FileGiven(file.name()));
            open_file(&context, &profile, &job, file);
        })
    };
    let on_files = {
        let (context, route) = (context.clone(), route.clone());
        let (context_of_files, route_of_files) = (context.clone(), route.clone());
        let bench = bench.dispatcher();
        let open = on_trace.clone();
        let others = Callback::from(move |files: Vec<File>| {
            let is_benchmark = *route == Route::Benchmark;
            let (results, others): (Vec<File>, Vec<File>) = files
                .into_iter()
                .partition(|file| may_hold_results(file, is_benchmark) && !is_plugin_file(&file.name()));
            for file in results {
                let (open, notices) = (open.clone(), context.notices.clone());
                route.set(Route::Benchmark);
                let otherwise = Callback::from(move |(file, reason): (File, String)| {
                    // JSON that holds no results may be a trace.
                    if file.name().to_ascii_lowercase().ends_with(".json") {
                        open.emit(file);
                    } else {
                        notices.dispatch(NoticeAction::Say(Tone::Bad, reason));
                    }
                });
                import_file(&context, bench.clone(), file, otherwise);
            }
            match <[File; 1]>::try_from(others) {
                Ok([file]) => open.emit(file),
                Err(others) if others.is_empty() => {}
                // Together: the files of a run directory are one run.
                Err(others) => match bundle_files(&others) {
                    Ok(file) => open.emit(file),
                    Err(message) => context.notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
                },
            }
        });
        let (context, route) = (context_of_files, route_of_files);
        let (experiments, slot) = (experiments.clone(), experiments_job.clone());
        // Records go to their page from anywhere; on that page anything may be a file to compare.
        Callback::from(move |files: Vec<File>| {
            if *route == Route::Experiments {
                let others = others.reform(|(file, _): (File, String)| vec![file]);
                return read_files(&context, &experiments, &slot, &files, Some(others));
            }
            let (records, rest): (Vec<File>, Vec<File>) = files.into_iter().partition(is_records_file);
            if !records.is_empty() {
                route.set(Route::Experiments);
                read_files(&context, &experiments, &slot, &records, None);
            }
            if !rest.is_empty() {
                others.emit(rest);
            }
        })
    };
    let on_refusal = {
        let notices = notices.dispatcher();
        Callback::from(move |message: String| notices.dispatch(NoticeAction::Say(Tone::Bad, message)))
    };
    let toggle_theme = {
        let theme = theme.clone();
        Callback::from(move |_: MouseEvent| {
            let next = if *theme == Theme::Dark { Theme::Light } else { Theme::Dark };
            theme::apply(next, true);
            theme.set(next);
        })
    };
    let nav = |to: Route| {
        html! { <a href={states.link(to).print()} aria-current={(*route == to).then_some("page")}>{ to.name() }</a> }
    };
    html! {
        <ContextProvider<AppContext> context={context}>
            <a class="skip" href="#main" onclick={skip_to_main()}>{ "Skip to content" }</a>
            <header class="site">
                <p class="brand">{ logo() }<span>{ "neuronscope" }</span></p>
                <nav aria-label="Pages">
                    { for ROUTES.map(nav) }
                </nav>
                <div class="site-tools">
                    <FilePicker id="open-file" label="Open files" on_files={on_files.clone()} />
                    <button type="button" class="plain" onclick={toggle_theme} aria-label={if *theme == Theme::Dark { "Use the light theme" } else { "Use the dark theme" }}>
                        { if *theme == Theme::Dark { "\u{2600}\u{fe0e}" } else { "\u{263e}\u{fe0e}" } }
                    </button>
                </div>
            </header>
            <NoticeList notices={notices} />
            <main id="main" tabindex="-1">
                { match *route {
                    Route::Benchmark => html! { <BenchmarkPage state={bench} {runner} /> },
                    Route::Profile => html! { <ProfilePage state={profile} job={Job(profile_job)} /> },
                    Route::Numerics => html! { <NumericsPage state={numerics} job={Job(numerics_job)} /> },
                    Route::Experiments => html! { <ExperimentsPage state={experiments} job={Job(experiments_job)} /> },
                    Route::Study(kind @ StudyKind::Matmult) => html! {
                        <StudyPage key={kind.form().path} state={matmult} job={Job(matmult_job)} on_trace={on_trace} />
                    },
                    Route::Study(kind @ StudyKind::Customop) => html! {
                        <StudyPage key={kind.form().path} state={customop} job={Job(customop_job)} on_trace={on_trace} />
                    },
                } }
            </main>
            <footer class="site">
                <p>{ "Simulated NeuronCores, in this browser. Nothing is uploaded." }</p>
                <p>{ format!("neuronscope {}", build_id()) }</p>
            </footer>
            <FileDrop {on_files} {on_refusal} />
        </ContextProvider<AppContext>>
    }
}

/// A running job as a property.
#[derive(Clone)]
pub struct Job(pub RunningJob);

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        std::rc::Rc::ptr_eq(&self.0, &other.0)
    }
}

fn skip_to_main() -> Callback<MouseEvent> {
    // The hash belongs to the routes, so the link must not change it.
    Callback::from(|event: MouseEvent| {
        event.prevent_default();
        page::focus("main");
    })
}

fn logo() -> Html {
    html! {
        <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
            <rect x="2" y="4" width="13" height="4" rx="1" class="a" /><rect x="6" y="10" width="9" height="4" rx="1" class="b" />
            <rect x="9" y="16" width="13" height="4" rx="1" class="c" />
        </svg>
    }
}

#[hook]
fn use_theme(theme: Theme) {
    use_effect_with((), move |()| theme::apply(theme, false));
}

/// The address leads the page when it is opened or edited, and follows it otherwise.
#[hook]
fn use_address(route: &UseStateHandle<Route>, states: &States, notices: &UseReducerHandle<Notices>) {
    use_effect_with((), {
        let (route, notices) = (route.setter(), notices.dispatcher());
        let (bench, profile, numerics) =
            (states.bench.dispatcher(), states.profile.dispatcher(), states.numerics.dispatcher());
        let experiments = states.experiments.dispatcher();
        let studies = StudyKind::ALL.map(|kind| (kind, states.study(kind).dispatcher()));
        move |()| {
            let to = route.clone();
            let read = move || {
                let (link, problems) = Link::parse(&url::hash());
                for problem in problems {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, format!("Link: {}", problem.message)));
                }
                match link {
                    Link::Benchmark(config) => {
                        to.set(Route::Benchmark);
                        bench.dispatch(BenchAction::Load(config));
                    }
                    Link::Profile(link) => {
                        to.set(Route::Profile);
                        profile.dispatch(ProfileAction::Load(link));
                    }
                    Link::Numerics(spec) => {
                        to.set(Route::Numerics);
                        numerics.dispatch(NumericsAction::Load(spec));
                    }
                    Link::Experiments(link) => {
                        to.set(Route::Experiments);
                        experiments.dispatch(ExperimentsAction::Load(link));
                    }
                    Link::Study(spec) => {
                        to.set(Route::Study(spec.kind()));
                        if let Some((_, study)) = studies.iter().find(|(kind, _)| *kind == spec.kind()) {
                            study.dispatch(StudyAction::Load(spec));
                        }
                    }
                }
            };
            read();
            let follow = move || match url::page_of_entry().and_then(|page| Route::from_hash(&page)) {
                Some(page) => route.set(page),
                None => read(),
            };
            let listener = web_sys::window().map(|w| EventListener::new(&w, "hashchange", move |_| follow()));
            move || drop(listener)
        }
    });
    let hash = states.link(**route).print();
    // The first run would overwrite the address before it was read.
    let is_first = use_mut_ref(|| true);
    use_effect_with(hash, move |hash| {
        let hash = hash.clone();
        let timer = (!is_first.replace(false)).then(|| Timeout::new(URL_DELAY_MS, move || url::show_hash(&hash)));
        move || drop(timer)
    });
}

#[hook]
fn use_catalog(
    pool: &Pool,
    catalog: &UseStateHandle<Option<Result<Shared<Catalog>, AttrValue>>>,
    notices: &UseReducerHandle<Notices>,
) {
    use_effect_with((), {
        let (pool, catalog, notices) = (pool.clone(), catalog.setter(), notices.dispatcher());
        move |()| {
            let failed = {
                let catalog = catalog.clone();
                move |message: String| {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, message.clone()));
                    catalog.set(Some(Err(message.into())));
                }
            };
            match pool.bench() {
                Ok(engine) => {
                    let on_event = Callback::from(move |event| match event {
                        Event::Catalog { catalog: list, .. } => catalog.set(Some(Ok(Shared::new(list)))),
                        Event::Failed { message, .. } => failed(message),
                        _ => {}
                    });
                    engine.send(|job| Request::Catalog { job }, None, on_event);
                }
                Err(message) => failed(message),
            }
        }
    });
}

/// Shows what the page is doing to tests and styles, and in the title of the tab.
#[hook]
fn use_page_state(route: Route, catalog: Option<&Result<Shared<Catalog>, AttrValue>>, states: &States) {
    let run = states.run(route);
    let state = match (catalog, run) {
        (_, RunState::Running { .. }) => PageState::Running,
        (_, RunState::Failed(_)) | (Some(Err(_)), RunState::Idle) => PageState::Failed,
        (None, _) => PageState::Loading,
        (_, RunState::Done) => PageState::Done,
        (_, RunState::Idle | RunState::Cancelled) => PageState::Idle,
    };
    let name = route.name();
    let title = match run {
        RunState::Running { done, total, .. } if *total > 0 => {
            format!("{:.0} % \u{2013} {name} \u{2013} neuronscope", *done as f64 / *total as f64 * 100.0)
        }
        _ => format!("{name} \u{2013} neuronscope"),
    };
    use_effect_with((state, title), |(state, title)| {
        page::set_state(*state);
        page::set_title(title);
    });
}
