//! The state of the benchmark page and the actions that change it.

use std::rc::Rc;

use super::example::example;
use super::{OpenedPlan, ResultRow, RowId, ScenarioRow};
use crate::sweep::SweepView;
use crate::{RunState, Shared};
use ns_base::Order;
use ns_base::units::format_plural;
use ns_bench::{BenchConfig, ModelIndex, Report, RowResult};
use ns_session::options::BENCH_OPTIONS;
use ns_session::results::{DEFAULT_COLUMNS, Goal, WantedTexts};
use ns_session::share::{BenchLink, PageLink as _, ResultsView};
use ns_session::{model_label, without_source};
use ns_view::table::Sort;

#[derive(Clone, Debug, PartialEq)]
pub struct BenchState {
    texts: Vec<String>,
    /// Progress of the run.
    pub run: RunState,
    /// The configurations that would run, or the reason why none would.
    pub listed: Option<Result<SweepView, Rc<str>>>,
    /// The sweep that ran last, or runs.
    pub sweep: Option<SweepView>,
    /// Rows of the last run in its order, then imported ones.
    pub rows: Shared<Vec<ResultRow>>,
    /// Notes of the last run: configurations that were left out, a duration that is too short.
    pub notes: Vec<Rc<str>>,
    /// The configuration of the last run.
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
    /// Results of the last MLPerf scenario.
    pub scenario: Shared<Vec<ScenarioRow>>,
    /// Whether a link asks for results of the form, which have not been started or restored yet.
    pub wants_run: bool,
    /// What became of the example.
    example: ExampleRows,
}

/// What became of the example that the page shows to someone who asked for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ExampleRows {
    /// The rows are not the example's.
    #[default]
    None,
    /// The rows are the example's, or will be.
    Shown,
    /// Rows of a file came in their place; those that come later are not wanted.
    PutAway,
}

/// The most instances that the form in one line names.
const MOST_NAMED: usize = 3;

/// Actions on the page.
pub enum BenchAction {
    /// An option was edited.
    Edit(&'static str, String),
    /// A model file was opened: by its id, with the batch sizes and the instances to run it with.
    Opened(String, OpenedPlan),
    /// The page was opened without anything to show.
    Example,
    /// Files are about to be read, which the page shows instead of the example.
    FilesCome,
    /// A link was opened.
    Load(Box<BenchConfig>),
    /// A link says how to show the results.
    Look(ResultsView),
    /// The link that was opened asks for results, unless something runs.
    WantRun,
    /// The results that the link asks for are under way, or wait for Run.
    LinkTaken,
    /// Configurations were listed, or cannot be listed.
    Listed(Result<SweepView, String>),
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
            example: ExampleRows::None,
        }
    }
}

fn texts_of(config: &BenchConfig) -> Vec<String> {
    BENCH_OPTIONS.iter().map(|option| option.text(config)).collect()
}

fn position(key: &str) -> Option<usize> {
    BENCH_OPTIONS.iter().position(|option| option.key() == key)
}

impl BenchState {
    /// The text of an option.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        position(key).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The form in one line: `resnet50 · inf2.xlarge · batch 1,4,8`. Fields that are empty are left out.
    #[must_use]
    pub fn in_short(&self) -> String {
        if let Some(imported) = self.imported_in_short() {
            return imported;
        }
        let model = model_label(&without_source(self.text("model"))).into_owned();
        let sizes = Some(self.text("batch_sizes")).filter(|sizes| !sizes.is_empty());
        let batch = sizes.map(|sizes| format!("batch {sizes}"));
        let instances: Vec<&str> = self.text("instance").split(',').map(str::trim).collect();
        let instances = match instances.len() {
            n if n > MOST_NAMED => format!("{n} instances"),
            _ => instances.join(" + "),
        };
        let parts = [model, instances, batch.unwrap_or_default()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
    }

    /// The rows in one line if all of them are of files: those of the form would be others.
    fn imported_in_short(&self) -> Option<String> {
        let is_own = |row: &ResultRow| matches!(row.id, RowId::Own(_));
        if self.rows.is_empty() || self.run.is_running() || self.rows.iter().any(is_own) {
            return None;
        }
        let each = |of: fn(&Report) -> String, many: &str| {
            let all: std::collections::BTreeSet<String> = self.rows.iter().map(|row| of(row.report())).collect();
            let count = all.len();
            let all: Vec<String> = all.into_iter().filter(|name| !name.is_empty()).collect();
            if count > MOST_NAMED { format!("{count} {many}") } else { all.join(" + ") }
        };
        let parts = [
            each(|r| model_label(&r.model_name).into_owned(), "models"),
            each(|r| r.instance_type.clone(), "instances"),
            format_plural(self.rows.len(), "imported row"),
        ];
        Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} "))
    }

    /// The configuration in the form, with unusable fields left at their defaults, and the messages for those fields.
    #[must_use]
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
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.sweep.as_ref().is_some_and(|view| view.is_paused_in(&self.run))
    }

    /// Whether the form differs from the benchmark that ran.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        let is_own = |r: &ResultRow| matches!(r.id, RowId::Own(_));
        let ran = self.ran.as_ref().filter(|_| !self.run.is_running() && self.rows.iter().any(is_own));
        ran.is_some_and(|ran| {
            let (config, wrong) = self.config();
            !wrong.is_empty() || config != **ran
        })
    }

    /// Whether the page shows results: there are some, or some are expected. Before that it shows the form and the listed configurations.
    #[must_use]
    pub fn is_for_results(&self) -> bool {
        !self.rows.is_empty() || self.run.is_running() || self.wants_run
    }

    /// Whether the results have their place on the page: there are some, or a run has begun, whose notes stand above them.
    #[must_use]
    pub fn has_place_for_results(&self) -> bool {
        !self.rows.is_empty() || (self.run.is_running() && self.ran.is_some())
    }

    /// Number of rows that the table will have when the run has ended, to reserve room for them; 0 if none are expected.
    #[must_use]
    pub fn awaited_rows(&self) -> usize {
        if !self.run.is_running() {
            return 0;
        }
        let planned = self.sweep.as_ref().map_or(0, |view| view.sweep().rows().len());
        planned + self.imported().len()
    }

    /// The hash of the link that shows this form, and its results in the current view.
    #[must_use]
    pub fn hash(&self) -> String {
        BenchLink { config: self.config().0, view: self.view() }.hash()
    }

    /// The current view of the results.
    #[must_use]
    pub fn view(&self) -> ResultsView {
        let columns = (*self.columns != DEFAULT_COLUMNS).then(|| self.columns.to_vec());
        ResultsView { filter: self.filter.to_string(), sort: self.sort.clone(), wanted: self.wanted.clone(), columns }
    }

    #[must_use]
    pub fn report_list(&self) -> Vec<Report> {
        self.rows.iter().map(|r| r.report().clone()).collect()
    }

    fn imported(&self) -> Vec<ResultRow> {
        self.rows.iter().filter(|r| matches!(r.id, RowId::Imported(_))).cloned().collect()
    }
}

impl BenchState {
    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: BenchAction) -> Self {
        let mut next = self.clone();
        match action {
            BenchAction::Edit(key, text) => {
                if let Some(i) = position(key) {
                    next.texts[i] = text;
                }
            }
            BenchAction::Opened(id, plan) => next.take_model(id, plan),
            BenchAction::Load(config) => {
                next.texts = texts_of(&config);
                // A link carries no index: one that is on the page stays.
                if let Some(index) = config.index {
                    next.index = Some(Shared::new(index));
                }
            }
            BenchAction::Example => {
                next.texts = texts_of(&example());
                (next.wants_run, next.example) = (!self.run.is_running(), ExampleRows::Shown);
            }
            BenchAction::FilesCome => {
                if self.example == ExampleRows::Shown && !self.run.is_running() && self.rows.is_empty() {
                    next = Self { columns: next.columns, ..Self::default() };
                }
            }
            BenchAction::Look(view) => next.look(view),
            BenchAction::WantRun => next.wants_run = !self.run.is_running(),
            BenchAction::LinkTaken => next.wants_run = false,
            BenchAction::Listed(listed) => next.listed = Some(listed.map_err(Rc::from)),
            BenchAction::Start(config, notes) => next.start(*config, notes),
            BenchAction::Note(note) => next.notes.push(note.into()),
            BenchAction::Dismiss(note) => next.notes.retain(|n| **n != *note),
            BenchAction::GoOn => next.run = RunState::started("Starting"),
            BenchAction::Progress(run) => {
                if next.run.is_running() {
                    next.run = run;
                }
            }
            BenchAction::Ran(view) => next.sweep = Some(view),
            BenchAction::Results(_) if self.example == ExampleRows::PutAway => {}
            BenchAction::Results(more) => next.rows = Shared::new(with_rows(&self.rows, more)),
            BenchAction::Imported(reports) => next.import(reports),
            BenchAction::DropImported => {
                let own = self.rows.iter().filter(|r| matches!(r.id, RowId::Own(_))).cloned();
                next.rows = Shared::new(own.collect());
            }
            BenchAction::End(run) => next.run = run,
            BenchAction::Sort(sort) => next.sort = Some(sort),
            BenchAction::Filter(filter) => next.filter = filter,
            BenchAction::Want(wanted) => next.wanted = wanted,
            BenchAction::Columns(columns) => next.columns = columns,
            BenchAction::Select(id) => next.selected = Some(id),
            BenchAction::Index(index) => {
                // Entries that name no model would run that of the form, which may be another.
                let has_models = |index: &ModelIndex| index.finished().all(|entry| entry.model.is_some());
                let can_run = index.as_deref().is_some_and(|i| i.finished().next().is_some() && has_models(i));
                next.wants_run |= can_run && !self.run.is_running();
                next.index = index.map(|index| Shared::new(*index));
            }
            BenchAction::Scenario(more) => next.take_scenario(more),
        }
        next
    }

    /// A file that the form names already is what its results waited for, if all of them failed without it. Another one is run with the
    /// batch sizes that it allows, on each instance that has a price: that answers what it costs.
    fn take_model(&mut self, id: String, plan: OpenedPlan) {
        if self.text("model") == id {
            let own = || self.rows.iter().filter(|r| matches!(r.id, RowId::Own(_)));
            let is_missed = own().next().is_some() && own().all(|r| !r.report().is_finished());
            self.wants_run |= is_missed && !self.run.is_running() && !self.is_stale();
            return;
        }
        self.texts = texts_of(&plan.config(id));
        self.wants_run = true;
        self.wanted.goal = Goal::Cost;
    }

    /// Columns are a habit of the reader: only a link that names some changes them.
    fn look(&mut self, view: ResultsView) {
        (self.filter, self.sort, self.wanted) = (view.filter.into(), view.sort, view.wanted);
        if let Some(columns) = view.columns {
            self.columns = columns.into();
        }
    }

    fn start(&mut self, config: BenchConfig, notes: Vec<String>) {
        // A scenario's verdicts are in a separate list; the rows of the previous benchmark stay.
        if config.mlperf.is_some() {
            self.scenario = Shared::new(Vec::new());
        } else {
            self.rows = Shared::new(self.imported());
        }
        if config != example() {
            self.example = ExampleRows::None;
        }
        self.ran = Some(Shared::new(config));
        self.notes = notes.into_iter().map(Rc::from).collect();
        self.run = RunState::started("Starting");
        self.selected = None;
    }

    fn import(&mut self, reports: Vec<Report>) {
        if self.example == ExampleRows::Shown && !reports.is_empty() {
            (self.rows, self.example, self.wants_run) = (Shared::new(self.imported()), ExampleRows::PutAway, false);
        }
        let first = u32::try_from(self.imported().len()).unwrap_or(u32::MAX);
        let row =
            |(i, report): (u32, Report)| (RowId::Imported(i), Rc::new(RowResult { report, ..RowResult::default() }));
        self.rows = Shared::new(with_rows(&self.rows, (first..).zip(reports).map(row).collect()));
    }

    fn take_scenario(&mut self, more: Vec<ScenarioRow>) {
        let is_kept = |row: &&ScenarioRow| more.iter().all(|m| m.row != row.row);
        let mut rows: Vec<ScenarioRow> = self.scenario.iter().filter(is_kept).cloned().collect();
        rows.extend(more);
        rows.order_by_key(|row| row.row);
        self.scenario = Shared::new(rows);
    }
}

/// The rows in order, with `more` added or replacing earlier rows.
fn with_rows(rows: &[ResultRow], more: Vec<(RowId, Rc<RowResult>)>) -> Vec<ResultRow> {
    let mut all: std::collections::BTreeMap<RowId, ResultRow> = rows.iter().map(|r| (r.id, r.clone())).collect();
    all.extend(more.into_iter().map(|(id, result)| (id, ResultRow::new(id, result))));
    all.into_values().collect()
}
