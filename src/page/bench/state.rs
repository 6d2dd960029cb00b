//! The state of the benchmark page and the actions that change it.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::example::example;
use super::wish::{OwnSweep, Wish};
use super::{OpenedPlan, ResultRow, RowId, ScenarioRow};
use crate::link_intent::LinkIntent;
use crate::sweep::SweepView;
use crate::{RunState, Shared};
use ns_base::units::format_plural;
use ns_bench::{BenchConfig, ModelIndex, Report, RowResult};
use ns_session::options::BENCH_OPTIONS;
use ns_session::results::{DEFAULT_COLUMNS, WantedTexts};
use ns_session::share::{BenchLink, Page, PageLink as _, ResultsView};
use ns_session::{model_label, without_source};
use ns_view::table::Sort;

/// The page. What it draws of a sweep (`run`, `rows`, `sweep`, ...) is that of the sweep that was asked for last, and nothing of any other.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchState {
    pub(super) texts: Vec<String>,
    /// What was asked for last.
    pub(super) wish: Wish,
    /// What was asked for before the file that is being read, or was refused.
    pub(super) before: Wish,
    /// Why the file of the wish cannot be used.
    pub(super) refusal: Option<Rc<str>>,
    /// The sweep that runs, or ran last.
    pub(super) own: OwnSweep,
    /// Rows of files.
    pub(super) imports: Shared<Vec<ResultRow>>,
    /// Progress of what was asked for.
    pub run: RunState,
    /// The configurations that would run, or the reason why none would.
    pub listed: Option<Result<SweepView, Rc<str>>>,
    /// The sweep that was asked for, as it stands.
    pub sweep: Option<SweepView>,
    /// Its rows in its order, then imported ones.
    pub rows: Shared<Vec<ResultRow>>,
    /// Its notes: configurations that were left out, a duration that is too short.
    pub notes: Vec<Rc<str>>,
    /// Its configuration.
    pub ran: Option<Shared<BenchConfig>>,
    /// How the table is sorted.
    pub sort: Option<Sort>,
    /// Filter for the rows of the table.
    pub filter: Rc<str>,
    /// Limits for the best configuration.
    pub wanted: WantedTexts,
    /// Columns of the table, in their order.
    pub columns: Rc<[&'static str]>,
    /// The configuration whose charts are shown; `None` for the first one that has charts.
    pub selected: Option<RowId>,
    /// Compiled models that are benchmarked instead of the form's model.
    pub index: Option<Shared<ModelIndex>>,
    /// Results of its MLPerf scenario.
    pub scenario: Shared<Vec<ScenarioRow>>,
    /// Whether results of the wish have to be started or restored.
    pub wants_run: bool,
    /// Whether Run was pressed: kept results are not enough.
    pub is_pressed: bool,
}

/// The most instances that the form in one line names.
const MOST_NAMED: usize = 3;

/// Actions on the page.
#[derive(Clone, Debug)]
pub enum BenchAction {
    /// An option was edited.
    Edit(&'static str, String),
    /// Files of this name are about to be read.
    FileGiven(String),
    /// The model file of this name was opened: by its id, with the batch sizes and the instances to run it with.
    Opened(String, String, OpenedPlan),
    /// The file that was given cannot be used, for this reason.
    Refused(String),
    /// What was there before the file is shown again.
    ShowAgain,
    /// The page was opened without anything to show: it shows this, or the example.
    Open(Option<Box<BenchConfig>>),
    /// A link was opened that asks for this.
    Load(Box<BenchConfig>, LinkIntent),
    /// A sweep of an earlier visit is shown.
    TakeUp(Box<BenchConfig>),
    /// Run was pressed.
    Press,
    /// A link says how to show the results.
    Look(ResultsView),
    /// The results of the wish are under way, or wait for Run.
    Taken,
    /// Configurations were listed, or cannot be listed.
    Listed(Result<SweepView, String>),
    /// A run of this is about to start.
    Plan(Box<BenchConfig>),
    /// A run was started, with its notes.
    Start(Box<BenchConfig>, Vec<String>),
    /// The run has a note.
    Note(String),
    /// A note was dismissed.
    Dismiss(String),
    /// A run that had ended continues.
    GoOn,
    /// The run made progress.
    Progress(RunState),
    /// The run's state changed.
    Ran(SweepView),
    /// Configurations finished.
    Results(Vec<(RowId, Rc<RowResult>)>),
    /// Rows of a file were imported.
    Imported(Vec<Report>),
    /// Imported rows are removed.
    DropImported,
    End(RunState),
    /// A head of the table was pressed.
    Sort(Sort),
    /// The table is filtered.
    Filter(Rc<str>),
    /// Limits for the best configuration were edited.
    Want(WantedTexts),
    /// Other columns were chosen.
    Columns(Rc<[&'static str]>),
    /// A configuration was chosen.
    Select(RowId),
    /// A model index was dropped on the page, or removed.
    Index(Option<Box<ModelIndex>>),
    /// A scenario ended for configurations.
    Scenario(Vec<ScenarioRow>),
}

impl Default for BenchState {
    fn default() -> Self {
        Self {
            texts: texts_of(&BenchConfig::default()),
            wish: Wish::Form,
            before: Wish::Form,
            refusal: None,
            own: OwnSweep::default(),
            imports: Shared::new(Vec::new()),
            run: RunState::Idle,
            listed: None,
            sweep: None,
            rows: Shared::new(Vec::new()),
            notes: Vec::new(),
            ran: None,
            sort: None,
            filter: Rc::default(),
            wanted: WantedTexts::default(),
            columns: Rc::from(DEFAULT_COLUMNS),
            selected: None,
            index: None,
            scenario: Shared::new(Vec::new()),
            wants_run: false,
            is_pressed: false,
        }
    }
}

pub(super) fn texts_of(config: &BenchConfig) -> Vec<String> {
    BENCH_OPTIONS.iter().map(|option| option.text(config)).collect()
}

fn position(key: &str) -> Option<usize> {
    BENCH_OPTIONS.iter().position(|option| option.key() == key)
}

/// A form in one line. Fields that are empty are left out.
fn short_of(texts: &[String]) -> String {
    let text = |key: &str| position(key).and_then(|i| texts.get(i)).map_or("", String::as_str);
    let model = model_label(&without_source(text("model"))).into_owned();
    let sizes = Some(text("batch_sizes")).filter(|sizes| !sizes.is_empty());
    let batch = sizes.map(|sizes| format!("batch {sizes}"));
    let instances: Vec<&str> = text("instance").split(',').map(str::trim).collect();
    let instances = match instances.len() {
        n if n > MOST_NAMED => format!("{n} instances"),
        _ => instances.join(" + "),
    };
    let parts = [model, instances, batch.unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
}

/// Rows of files in one line: their models, their instances, and how many there are.
fn imports_in_short(imports: &[ResultRow]) -> String {
    let each = |of: fn(&Report) -> String, many: &str| {
        let all: BTreeSet<String> = imports.iter().map(|row| of(row.report())).collect();
        let count = all.len();
        let all: Vec<String> = all.into_iter().filter(|name| !name.is_empty()).collect();
        if count > MOST_NAMED { format!("{count} {many}") } else { all.join(" + ") }
    };
    let parts = [
        each(|r| model_label(&r.model_name).into_owned(), "models"),
        each(|r| r.instance_type.clone(), "instances"),
        format_plural(imports.len(), "imported row"),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
}

impl BenchState {
    /// The text of an option.
    pub fn text(&self, key: &str) -> &str {
        position(key).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The model of what was asked for; of the form if nothing was.
    pub fn model(&self) -> &str {
        self.asked().map_or_else(|| self.text("model"), |config| &config.model)
    }

    /// The configuration that was asked for.
    pub fn asked(&self) -> Option<&Shared<BenchConfig>> {
        if let Wish::Run(config) = &self.wish { Some(config) } else { None }
    }

    /// Whether the page is about its own example, or about nothing.
    pub fn is_example(&self) -> bool {
        match &self.wish {
            Wish::Run(config) => **config == example() && self.view() == BenchState::default().view(),
            Wish::File(_) => false,
            Wish::Form => self.imports.is_empty() && self.texts == texts_of(&BenchConfig::default()),
        }
    }

    /// Whether the page was asked for something, so that it is about more than its form.
    pub fn is_asked(&self) -> bool {
        self.wish != Wish::Form || !self.imports.is_empty()
    }

    /// Why the file that was given last cannot be used.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// What was there before a file that was refused, in one line.
    pub fn before_in_short(&self) -> Option<String> {
        let Wish::Run(config) = self.refusal.as_ref().and(Some(&self.before))? else { return None };
        Some(short_of(&texts_of(config)))
    }

    /// What the page is about in one line, `resnet50 \u{b7} inf2.xlarge \u{b7} batch 1,4,8`: what was asked for, else rows of files, else the form.
    pub fn in_short(&self) -> String {
        match &self.wish {
            Wish::Run(config) => short_of(&texts_of(config)),
            Wish::File(name) => name.to_string(),
            Wish::Form if self.is_about_imports() => imports_in_short(&self.imports),
            Wish::Form => short_of(&self.texts),
        }
    }

    /// Whether rows of files are all there is to see.
    fn is_about_imports(&self) -> bool {
        self.wish == Wish::Form && !self.imports.is_empty()
    }

    /// The configuration in the form, with unusable fields left at their defaults, and the messages for those fields.
    pub fn config(&self) -> (BenchConfig, Vec<(&'static str, String)>) {
        let mut config = BenchConfig::default();
        let mut wrong = Vec::new();
        for (option, text) in BENCH_OPTIONS.iter().zip(&self.texts) {
            if let Err(message) = option.set(&mut config, text) {
                wrong.push((option.key(), message));
            }
        }
        config.index = self.index.as_ref().map(|index| (**index).clone());
        (config, wrong)
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.sweep.as_ref().is_some_and(|view| view.is_paused_in(&self.run))
    }

    /// Whether a run goes on that is not what was asked for last: it makes room.
    pub fn is_overtaken(&self) -> bool {
        self.own.run.is_running() && self.wants_run && !self.wish.is_of(&self.own)
    }

    /// Whether a sweep runs, also one that is not drawn.
    pub const fn is_busy(&self) -> bool {
        self.own.run.is_running()
    }

    /// Whether what was asked for can start: nothing else runs.
    pub fn can_start(&self) -> bool {
        self.wants_run && !self.own.run.is_running()
    }

    /// Whether the form differs from the benchmark that is shown.
    pub fn is_stale(&self) -> bool {
        let ran = self.ran.as_ref().filter(|_| !self.run.is_running() && !self.own.rows.is_empty());
        ran.is_some_and(|ran| {
            let (config, wrong) = self.config();
            !wrong.is_empty() || config != **ran
        })
    }

    /// Whether the page shows results: there are some, or some are expected. Before that it shows the form and the listed configurations.
    pub fn is_for_results(&self) -> bool {
        !self.rows.is_empty() || self.run.is_running() || self.wants_run
    }

    /// Whether the configurations of the form are of what the page is about: rows of files and a file that was refused are of something else.
    pub fn has_plan(&self) -> bool {
        match &self.wish {
            Wish::Run(_) => true,
            Wish::File(_) => false,
            Wish::Form => self.imports.is_empty(),
        }
    }

    /// Whether the results have their place on the page: there are some, or a run has begun, whose notes stand above them.
    pub fn has_place_for_results(&self) -> bool {
        !self.rows.is_empty() || (self.run.is_running() && self.own.has_started && self.ran.is_some())
    }

    /// Number of rows that the table will have when the run has ended, to reserve room for them; 0 if none are expected.
    pub fn awaited_rows(&self) -> usize {
        if !self.run.is_running() {
            return 0;
        }
        let planned = self.sweep.as_ref().map_or(0, |view| view.sweep().rows().len());
        planned + self.imports.len()
    }

    /// The hash of the link that shows what was asked for, in the current view; that of the form if nothing was. Rows of files have no link.
    pub fn hash(&self) -> String {
        let config = match &self.wish {
            Wish::Run(config) => (**config).clone(),
            Wish::Form if !self.is_about_imports() => self.config().0,
            Wish::File(_) | Wish::Form => return Page::Benchmark.hash(),
        };
        BenchLink { config, view: self.view() }.hash()
    }

    /// The hash of the benchmark whose rows are drawn; `None` if none are, or only those of files.
    pub fn request(&self) -> Option<String> {
        self.ran.as_ref().filter(|_| !self.own.rows.is_empty()).map(|ran| ran.hash())
    }

    /// The current view of the results.
    pub fn view(&self) -> ResultsView {
        let columns = (*self.columns != DEFAULT_COLUMNS).then(|| self.columns.to_vec());
        ResultsView { filter: self.filter.to_string(), sort: self.sort.clone(), wanted: self.wanted.clone(), columns }
    }

    pub fn report_list(&self) -> Vec<Report> {
        self.rows.iter().map(|r| r.report().clone()).collect()
    }
}

impl BenchState {
    /// The page after an action.
    pub fn after(&self, action: BenchAction) -> Self {
        let mut next = self.clone();
        match action {
            BenchAction::Edit(key, text) => {
                if let Some(i) = position(key) {
                    next.texts[i] = text;
                }
            }
            BenchAction::FileGiven(name) => next.expect_file(name),
            BenchAction::Opened(name, id, plan) => next.take_model(&name, id, plan),
            BenchAction::Refused(message) => {
                next.refusal = Some(message.into()).filter(|_| matches!(self.wish, Wish::File(_)));
            }
            BenchAction::ShowAgain => next.go_back(),
            BenchAction::Open(latest) => next.open(latest),
            BenchAction::Load(config, intent) => next.load(*config, intent),
            BenchAction::TakeUp(config) => {
                next.texts = texts_of(&config);
                next.ask(*config, false);
            }
            BenchAction::Press => {
                next.ask(self.config().0, true);
                next.is_pressed = true;
            }
            BenchAction::Look(view) => next.look(view),
            BenchAction::Taken => (next.wants_run, next.is_pressed) = (false, false),
            BenchAction::Listed(listed) => next.listed = Some(listed.map_err(Rc::from)),
            BenchAction::Plan(config) => next.own = OwnSweep::planned(*config),
            BenchAction::Start(config, notes) => {
                next.own = OwnSweep::started(*config, notes);
                next.selected = None;
            }
            BenchAction::Note(note) => next.own.notes.push(note.into()),
            BenchAction::Dismiss(note) => next.own.notes.retain(|n| **n != *note),
            BenchAction::GoOn => next.own.run = RunState::started("Starting"),
            BenchAction::Progress(run) => {
                if next.own.run.is_running() {
                    next.own.run = run;
                }
            }
            BenchAction::Ran(view) => next.own.sweep = Some(view),
            BenchAction::Results(more) => next.own.rows = Shared::new(with_rows(&self.own.rows, more)),
            BenchAction::Imported(reports) => next.import(reports),
            BenchAction::DropImported => next.imports = Shared::new(Vec::new()),
            BenchAction::End(run) => next.own.run = run,
            BenchAction::Sort(sort) => next.sort = Some(sort),
            BenchAction::Filter(filter) => next.filter = filter,
            BenchAction::Want(wanted) => next.wanted = wanted,
            BenchAction::Columns(columns) => next.columns = columns,
            BenchAction::Select(id) => next.selected = Some(id),
            BenchAction::Index(index) => next.take_index(index.map(|index| Shared::new(*index))),
            BenchAction::Scenario(more) => next.own.take_scenario(more),
        }
        next.draw_after(self);
        next
    }
}

/// The rows in order, with `more` added or replacing earlier rows.
pub(super) fn with_rows(rows: &[ResultRow], more: Vec<(RowId, Rc<RowResult>)>) -> Vec<ResultRow> {
    let mut all: std::collections::BTreeMap<RowId, ResultRow> = rows.iter().map(|r| (r.id, r.clone())).collect();
    all.extend(more.into_iter().map(|(id, result)| (id, ResultRow::new(id, result))));
    all.into_values().collect()
}
