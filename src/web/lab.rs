//! The lab: the pages whose program is fetched when one of them is first shown. The app has the head, and decides which page is shown.

use crate::state::{StateDispatcher, StateHandle, use_reduced};
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::bridge::{self, PageFiles};
use super::components::{notice_list, on};
use super::context::{AppContext, JobSlot};
use super::frame::{use_catalog, use_hash, use_kept_focus, use_page_state};
use super::model_files::{file_label, linked_hash, open_linked, use_models};
use super::pages::benchmark::{BenchmarkPage, LatestBenchmark, import_file, latest_benchmark, open_for_benchmark};
use super::pages::experiments::{ExperimentsPage, read_files};
use super::pages::guide::GuidePage;
use super::pages::inspect::{InspectActions, InspectPage, open_model as inspect_model};
use super::pages::study::{StudyPage, open_for_study};
use super::platform::files::read_head;
use super::platform::{page, panic, theme, url};
use super::shelf;
use super::state::{ExperimentsAction, ExperimentsState};
use super::state::{InspectAction, InspectState};
use super::sweep::{ExperimentRunner, SweepRunner};
use super::worker::{KnownModel, Pool, Program, ask_everything};
use ns_page::RunState;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::experiments::{PlanAction, PlanState};
use ns_page::history::{lab_follows, waits_for_user};
use ns_page::link_intent::LinkIntent;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::study::{StudyAction, StudyState};
use ns_session::InspectField;
use ns_session::results::{Keepable, KeptResult};
use ns_session::share::{Address, ExperimentLink, Page};
use ns_session::studies::{KernelOfFiles, StudyKind, config_of_gguf, is_gguf, python_of};
use ns_view::palette::Theme;

/// Starts the lab in its element of the page.
pub fn start() {
    panic::install_for_page();
    ask_everything();
    if let Some(root) = page::element(bridge::LAB_ELEMENT) {
        yew::Renderer::<Lab>::with_root(root).render();
    }
}

/// The states of the pages.
#[derive(Clone)]
struct States {
    bench: StateHandle<BenchState>,
    inspect: StateHandle<InspectState>,
    experiments: StateHandle<ExperimentsState>,
    plan: StateHandle<PlanState>,
    /// In the order of [`StudyKind::ALL`].
    studies: [StateHandle<StudyState>; StudyKind::ALL.len()],
}

/// Most bytes of a file that are read into the editor: one more than a source may have.
const LONGEST_KERNEL: usize = (1 << 20) + 1;

impl States {
    const fn study(&self, kind: StudyKind) -> &StateHandle<StudyState> {
        &self.studies[kind as usize]
    }

    fn run(&self, page: Option<Page>) -> RunState {
        match page {
            Some(Page::Benchmark) => self.bench.run.clone(),
            Some(Page::Inspect) => self.inspect.run.clone(),
            // A run is what is worth waiting for; its records are read beside it.
            Some(Page::Experiments) if self.plan.run != RunState::Idle => self.plan.run.clone(),
            Some(Page::Experiments) => self.experiments.run.clone(),
            Some(page) => page.study().map_or(RunState::Idle, |kind| self.study(kind).run.clone()),
            None => RunState::Idle,
        }
    }

    /// Whether a page runs by itself as soon as the workers are ready.
    fn is_about_to_run(&self, page: Option<Page>) -> bool {
        match page {
            Some(Page::Benchmark) => self.bench.wants_run,
            // The page always shows something: a run, or the sample.
            Some(Page::Experiments) => self.plan.wants_run || self.experiments.wants_sample(&self.plan),
            // The page always shows a model.
            Some(Page::Inspect) => self.inspect.result.is_none() && self.inspect.file.is_none(),
            Some(page) => page.study().is_some_and(|kind| self.study(kind).is_about_to_run()),
            None => false,
        }
    }

    /// The model of a page that takes model files.
    fn model(&self, page: Page) -> String {
        match (page, page.study()) {
            (Page::Benchmark, _) => self.bench.model().to_owned(),
            (Page::Inspect, _) => self.inspect.spec.get(InspectField::Model).to_owned(),
            (_, study) => study.map(|kind| self.study(kind).model()).unwrap_or_default(),
        }
    }

    /// The address of a page: that of what it shows. A page that shows its own example keeps the address without fields that opened it.
    fn address(&self, page: Page, models: &[KnownModel]) -> Option<String> {
        if url::hash() == page.hash() && self.shows_example(page) {
            return Some(page.hash());
        }
        Some(linked_hash(models, &self.model(page), self.hash(page)?))
    }

    /// Whether a page is about more than its form.
    fn is_asked(&self, page: Page) -> bool {
        match page {
            Page::Benchmark => self.bench.is_asked(),
            page => page.study().is_none_or(|kind| self.study(kind).asked().is_some()),
        }
    }

    /// Whether a page shows what it opens with for somebody who asked for nothing.
    fn shows_example(&self, page: Page) -> bool {
        match page {
            Page::Benchmark => self.bench.is_example(),
            Page::Inspect => self.inspect.is_example(),
            Page::Experiments => self.experiments.is_example(),
            page => page.study().is_none_or(|kind| self.study(kind).is_example()),
        }
    }

    fn hash(&self, page: Page) -> Option<String> {
        match page {
            Page::Benchmark => Some(self.bench.hash()),
            Page::Inspect => Some(self.inspect.hash()),
            Page::Experiments => Some(self.experiments.hash(self.plan.linked())),
            Page::Guide => Some(page.hash()),
            page => Some(self.study(page.study()?).hash()),
        }
    }

    /// A page of this program.
    fn content(&self, page: Page, runners: &Runners, jobs: &Jobs) -> Html {
        match page {
            Page::Benchmark => {
                html! { <BenchmarkPage state={self.bench.clone()} runner={runners.benchmarks.clone()} /> }
            }
            Page::Inspect => html! { <InspectPage state={self.inspect.clone()} job={jobs.inspect.clone()} /> },
            Page::Experiments => {
                let (plan, runner) = (self.plan.clone(), runners.experiments.clone());
                html! { <ExperimentsPage state={self.experiments.clone()} job={jobs.experiments.clone()} {plan} {runner} /> }
            }
            Page::Guide => html! { <GuidePage /> },
            page => page.study().map_or_else(Html::default, |kind| {
                let (state, job) = (self.study(kind).clone(), jobs.studies[kind as usize].clone());
                let on_trace = Callback::from(|file: File| bridge::give_app(&[file]));
                html! { <StudyPage key={kind.path()} {state} {job} {on_trace} /> }
            }),
        }
    }
}

#[component]
fn Lab() -> Html {
    let pool = (*use_memo((), |()| Pool::default())).clone();
    let notices = use_reduced(Notices::default);
    let states = States {
        bench: use_reduced(BenchState::default),
        inspect: use_reduced(InspectState::default),
        experiments: use_reduced(ExperimentsState::default),
        plan: use_reduced(PlanState::default),
        studies: [
            use_reduced(|| StudyState::new(StudyKind::ALL[0])),
            use_reduced(|| StudyState::new(StudyKind::ALL[1])),
            use_reduced(|| StudyState::new(StudyKind::ALL[2])),
            use_reduced(|| StudyState::new(StudyKind::ALL[3])),
            use_reduced(|| StudyState::new(StudyKind::ALL[4])),
            use_reduced(|| StudyState::new(StudyKind::ALL[5])),
        ],
    };
    let current = use_state_eq(|| None::<Page>);
    let theme = use_state_eq(theme::initial);
    let runners = (*use_memo((), |()| Runners::new(&pool, &states, &notices.dispatcher()))).clone();
    let jobs = (*use_memo((), |()| Jobs::default())).clone();

    use_kept_focus();
    let models = use_models(&pool);
    let follow = use_address(&states, &pool, &notices.dispatcher());
    let number = use_state_eq(|| 0_u32);
    let is_asked = current.is_none_or(|page| states.is_asked(page));
    use_hash(current.and_then(|page| states.address(page, &models.known)), *number, is_asked);
    let page = Address::read(&url::hash()).page();
    let is_study = page.study().is_some() || page == Page::Experiments;
    let program = if is_study { Program::Studies } else { Program::Benchmarks };
    let catalog = use_catalog(true, &pool, program, &notices.dispatcher());
    // The page waits for a model file that is being read from the browser's store, as it waits for the workers.
    let catalog = (*catalog).clone().filter(|_| !models.is_awaited);
    // What runs a file that is not here waits for the user.
    let runs_models = current.filter(|page| matches!(page, Page::Benchmark | Page::Numerics));
    let model = runs_models.map(|page| states.model(page)).unwrap_or_default();
    let is_missing = file_label(&model).is_some() && !pool.has_model(&model);
    let is_about_to_run = states.is_about_to_run(*current) && !is_missing;
    use_page_state(*current, catalog.as_ref(), &states.run(*current), is_about_to_run);
    let context = AppContext {
        pool,
        notices: notices.dispatcher(),
        catalog: catalog.as_ref().and_then(|c| c.as_ref().ok()).cloned(),
        models: models.known,
        theme: *theme,
    };
    use_given_files(&context, &states, &jobs);
    let latest = use_mut_ref(|| 0_u32);
    use_app_state(on(
        (current.setter(), theme.setter(), latest, number.setter(), follow),
        |(current, theme, latest, number_setter, follow), (page, number, chosen): (Page, u32, Theme)| {
            // A page is drawn with what its address asks for, never before.
            if latest.replace(number) != number {
                follow.emit(());
                number_setter.set(number);
            }
            current.set(bridge::is_in_lab(page).then_some(page));
            theme.set(chosen);
        },
    ));

    html! {
        <ContextProvider<AppContext> context={context}>
            { notice_list(&notices, "Notices of this page") }
            if let Some(page) = *current { <main id="main" tabindex="-1">{ states.content(page, &runners, &jobs) }</main> }
        </ContextProvider<AppContext>>
    }
}

/// The runners of sweeps, which go on while another page is shown.
#[derive(Clone)]
struct Runners {
    benchmarks: SweepRunner,
    experiments: ExperimentRunner,
}

impl Runners {
    fn new(pool: &Pool, states: &States, notices: &StateDispatcher<Notices>) -> Self {
        Self {
            benchmarks: SweepRunner::new(pool.clone(), states.bench.dispatcher(), notices.clone()),
            experiments: ExperimentRunner::new(pool.clone(), states.plan.dispatcher(), notices.clone()),
        }
    }
}

/// The running job of each page.
#[derive(Clone, Default)]
struct Jobs {
    inspect: JobSlot,
    experiments: JobSlot,
    studies: [JobSlot; StudyKind::ALL.len()],
}

/// What follows the address when one is opened or edited. An address without fields leaves a page that was shown before unchanged: the
/// links of the head have no fields.
#[hook]
fn use_address(states: &States, pool: &Pool, notices: &StateDispatcher<Notices>) -> Callback<()> {
    let (states, pool, notices) = (states.clone(), pool.clone(), notices.clone());
    let seen = use_mut_ref(BTreeSet::new);
    use_callback((), move |(), ()| {
        // What was said is about what was shown before.
        notices.dispatch(NoticeAction::Leave);
        let mut address = Address::read(&url::hash());
        let page = address.page();
        let is_new = seen.borrow_mut().insert(page);
        let is_of_visit = url::page_of_entry().is_some();
        if !bridge::is_in_lab(page) || !lab_follows(is_new, address.is_bare()) {
            return;
        }
        if page == Page::Experiments && !is_new && is_of_visit {
            // The records are open: only the view of them changes.
            let look = ExperimentsAction::Look(Box::new(address.experiments().spec));
            return states.experiments.dispatch(look);
        }
        let has_plan = open_address(&states, &pool, &notices, &mut address, page);
        if waits_for_user(page, has_plan, &address) {
            let text = "A part of the link could not be used, so nothing was run. Check the form, then press Run.";
            notices.dispatch(NoticeAction::Say(Tone::Info, text.to_owned()));
        }
        for problem in address.notices {
            notices.dispatch(NoticeAction::Say(Tone::Bad, format!("Link: {}", problem.message)));
        }
    })
}

/// Asks the page of an address for what it names; returns whether it names a plan of experiments.
fn open_address(
    states: &States,
    pool: &Pool,
    notices: &StateDispatcher<Notices>,
    address: &mut Address,
    page: Page,
) -> bool {
    match (page, page.study()) {
        (Page::Benchmark, _) => {
            let config = Box::new(address.benchmark());
            open_linked(pool, notices, address, &config.model);
            match (LinkIntent::of(address), latest_benchmark()) {
                (LinkIntent::Page, LatestBenchmark::Kept(latest)) => {
                    states.bench.dispatch(BenchAction::Open(Some(latest)))
                }
                (LinkIntent::Page, LatestBenchmark::None) => states.bench.dispatch(BenchAction::Open(None)),
                (LinkIntent::Page, LatestBenchmark::Unfinished) => {}
                (intent, _) => {
                    states.bench.dispatch(BenchAction::Load(config, intent));
                    states.bench.dispatch(BenchAction::Look(address.results()));
                }
            }
        }
        (Page::Inspect, _) => {
            let spec = Box::new(address.inspect());
            open_linked(pool, notices, address, spec.get(InspectField::Model));
            let is_bare = address.is_bare();
            states.inspect.dispatch(if is_bare { InspectAction::Begin(spec) } else { InspectAction::Load(spec) });
        }
        (Page::Experiments, _) => {
            let link = address.experiments();
            let has_plan = link.plan.is_some();
            open_plan(&states.plan, &link, address);
            states.experiments.dispatch(ExperimentsAction::Load(Box::new(link)));
            return has_plan;
        }
        (_, Some(kind)) => {
            let spec = address.study(kind);
            open_linked(pool, notices, address, &spec.text("model"));
            let intent = LinkIntent::of(address);
            let kept = kept_for(intent, &spec);
            states.study(kind).dispatch(StudyAction::Open(Box::new(spec), intent, kept));
        }
        (_, None) => {}
    }
    false
}

/// Puts the plan of a link into the form; it runs unless the link holds records, or a part of it could not be used.
fn open_plan(plan: &StateHandle<PlanState>, link: &ExperimentLink, address: &Address) {
    let Some(request) = link.plan.clone() else { return };
    plan.dispatch(PlanAction::Load(request));
    if address.runs_by_itself() && link.data.is_none() && link.files.is_empty() {
        plan.dispatch(PlanAction::WantRun);
    } else {
        plan.dispatch(PlanAction::Open(!address.notices.is_empty()));
    }
}

/// The kept result that an address asks for.
fn kept_for<S, R>(intent: LinkIntent, spec: &S) -> Option<Box<KeptResult<S, R>>>
where
    S: Keepable + DeserializeOwned + PartialEq,
    R: DeserializeOwned,
{
    let kept = match intent {
        LinkIntent::Result => shelf::kept_result(spec),
        LinkIntent::Page => shelf::latest_result(spec.item_kind()),
        LinkIntent::Form => None,
    };
    kept.map(Box::new)
}

/// Listens to the app's state, and tells the app that the lab listens.
#[hook]
fn use_app_state(on_app_state: Callback<(Page, u32, Theme)>) {
    use_effect_with((), move |()| {
        let listener = bridge::on_app_state(on_app_state);
        bridge::lab_is_ready();
        move || drop(listener)
    });
}

/// Reads the files from the app: records, benchmark results, models.
#[hook]
fn use_given_files(context: &AppContext, states: &States, jobs: &Jobs) {
    let dependencies = (context.clone(), states.bench.clone(), states.experiments.clone(), states.inspect.clone());
    let (jobs, studies) = (jobs.clone(), states.studies.each_ref().map(StateHandle::dispatcher));
    use_effect_with(dependencies, move |(context, bench, experiments, inspect)| {
        let (context, bench, experiments) = (context.clone(), bench.clone(), experiments.clone());
        let studies = studies.clone();
        let actions = InspectActions { app: context.clone(), state: inspect.clone(), job: jobs.inspect.clone() };
        let listener = bridge::on_files_for_lab(Callback::from(move |(page, are_models, files): PageFiles| {
            context.notices.dispatch(NoticeAction::Leave);
            if page == Page::Experiments {
                return read_files(&context, &experiments, &jobs.experiments.0, &files);
            }
            if page == Page::Customop {
                return give_kernel(&context, &studies[StudyKind::Customop as usize], files);
            }
            for file in files {
                match (page, page.study()) {
                    (Page::Inspect, _) => inspect_model(&actions, file),
                    (_, Some(kind)) => match kind.file_field().filter(|_| !are_models) {
                        Some(_) => give_text(&studies[kind as usize], kind, file),
                        None => open_for_study(&context, &studies[kind as usize], file),
                    },
                    _ if are_models => open_for_benchmark(&context, &bench.dispatcher(), file),
                    _ => {
                        bench.dispatch(BenchAction::FileGiven(file.name()));
                        import_file(&context, bench.dispatcher(), file);
                    }
                }
            }
        }));
        move || drop(listener)
    });
}

/// Gives the text of a file to a study, which runs it.
fn give_text(study: &StateDispatcher<StudyState>, kind: StudyKind, file: File) {
    let study = study.clone();
    spawn_local(async move {
        study.dispatch(match text_of(&file).await {
            Ok(text) => match python_of(&file.name(), &text) {
                Ok((name, text)) => StudyAction::Given(kind.fields_of_file(&name, text)),
                Err(refusal) => StudyAction::RefuseFile(refusal.to_string()),
            },
            Err(problem) => StudyAction::RefuseFile(problem),
        });
    });
}

/// Gives the kernel of the files that were dropped together to its study, which runs it.
fn give_kernel(context: &AppContext, study: &StateDispatcher<StudyState>, files: Vec<File>) {
    let (study, notices) = (study.clone(), context.notices.clone());
    spawn_local(async move {
        let mut texts = Vec::new();
        for file in files {
            match text_of(&file).await {
                Ok(text) => texts.push((file.name(), text)),
                Err(problem) => return study.dispatch(StudyAction::RefuseFile(problem)),
            }
        }
        let kernel = match KernelOfFiles::of(&texts) {
            Ok(kernel) => kernel,
            Err(refusal) => return study.dispatch(StudyAction::RefuseFile(refusal.to_string())),
        };
        if !kernel.others.is_empty() {
            let said = format!("The kernel alone is run here, without {}.", kernel.others.join(", "));
            notices.dispatch(NoticeAction::Say(Tone::Info, said));
        }
        study.dispatch(StudyAction::Given(kernel.fields()));
    });
}

/// The text of a file, up to the longest source that is read.
async fn text_of(file: &File) -> Result<String, String> {
    let name = file.name();
    let bytes = read_head(file, LONGEST_KERNEL).await.unwrap_or_default();
    if is_gguf(&bytes) {
        return config_of_gguf(&name, &bytes).map_err(|refusal| refusal.to_string());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.is_empty() => Ok(text),
        Ok(_) => Err(format!("{name}: the file is empty or cannot be read")),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(format!("{name}: byte {at} is not UTF-8 text; save the file as UTF-8"))
        }
    }
}
