//! The state of the benchmark page and what changes it.

use std::rc::Rc;

use super::{ResultRow, RowId, ScenarioRow, SweepView};
use crate::bench::{BenchConfig, ModelIndex, Report, RowResult};
use crate::page::{RunState, Shared};
use crate::session::results::{DEFAULT_COLUMNS, WantedTexts};
use crate::session::share::{BENCH_FIELDS, BenchField, BenchLink, PageLink as _, ResultsView};
use crate::view::table::Sort;

/// The benchmark page.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchState {
    texts: Vec<String>,
    /// How far the run is.
    pub run: RunState,
    /// What would run, or why nothing would.
    pub listed: Option<Result<SweepView, Rc<str>>>,
    /// What ran last, or runs.
    pub sweep: Option<SweepView>,
    /// Rows of the last run in its order, then imported ones.
    pub rows: Shared<Vec<ResultRow>>,
    /// What the last run had to say besides: configurations that were left out, a duration that is short.
    pub notes: Vec<Rc<str>>,
    /// What the last run was asked to do.
    pub ran: Option<Shared<BenchConfig>>,
    /// How the table is sorted.
    pub sort: Option<Sort>,
    /// What rows of the table are filtered by.
    pub filter: Rc<str>,
    /// Limits for the best configuration.
    pub wanted: WantedTexts,
    /// Columns of the table, in their order.
    pub columns: Rc<[&'static str]>,
    /// The configuration whose charts are shown; absent while it is the first one that has any.
    pub selected: Option<RowId>,
    /// Compiled models that are benchmarked in place of the form's model.
    pub index: Option<Shared<ModelIndex>>,
    /// What the last MLPerf scenario gave.
    pub scenario: Shared<Vec<ScenarioRow>>,
    /// A link asks for results of the form, which nobody has started or brought back yet.
    pub wants_run: bool,
}

/// What happens on the page.
pub enum BenchAction {
    /// A field was edited.
    Edit(BenchField, String),
    /// A link was opened.
    Load(Box<BenchConfig>),
    /// A link says how results are looked at.
    Look(ResultsView),
    /// The link that was opened asks for results, unless something runs.
    WantRun,
    /// What the link asks for is on its way, or waits for Run.
    LinkTaken,
    /// Configurations were listed, or cannot be.
    Listed(Result<SweepView, String>),
    /// A run was started, with what there is to say about it.
    Start(Box<BenchConfig>, Vec<String>),
    /// The run has something to say.
    Note(String),
    /// A note was read.
    Dismiss(String),
    /// A run that had ended goes on.
    GoOn,
    /// The run went on.
    Progress(RunState),
    /// Where the run is.
    Ran(SweepView),
    /// Configurations ended.
    Results(Vec<(RowId, Rc<RowResult>)>),
    /// Rows of a file.
    Imported(Vec<Report>),
    /// Imported rows are not wanted any more.
    DropImported,
    /// The run ended.
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
    /// A model index was dropped, or is not wanted any more.
    Index(Option<Box<ModelIndex>>),
    /// A scenario ended on configurations.
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
        }
    }
}

fn texts_of(config: &BenchConfig) -> Vec<String> {
    BENCH_FIELDS.iter().map(|f| f.text(config)).collect()
}

impl BenchState {
    /// What is in a field.
    #[must_use]
    pub fn text(&self, field: BenchField) -> &str {
        BENCH_FIELDS.iter().position(|f| *f == field).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The configuration in the form, fields that cannot be used left at their defaults, and what is wrong with those.
    #[must_use]
    pub fn config(&self) -> (BenchConfig, Vec<(BenchField, String)>) {
        let mut config = BenchConfig::default();
        let mut wrong = Vec::new();
        for (field, text) in BENCH_FIELDS.iter().zip(&self.texts) {
            if let Err(message) = field.set(&mut config, text) {
                wrong.push((*field, message));
            }
        }
        config.index = self.index.as_ref().map(|index| (**index).clone());
        (config, wrong)
    }

    /// Whether the run rests.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.run.is_running() && self.sweep.as_ref().is_some_and(|view| view.sweep().is_paused())
    }

    /// Whether the form asks for something else than what ran.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        let is_own = |r: &ResultRow| matches!(r.id, RowId::Own(_));
        let ran = self.ran.as_ref().filter(|_| !self.run.is_running() && self.rows.iter().any(is_own));
        ran.is_some_and(|ran| {
            let (config, wrong) = self.config();
            !wrong.is_empty() || config != **ran
        })
    }

    /// Whether the page is for results: there are some, or some are on their way. Before that it is for the form and what it lists.
    #[must_use]
    pub fn is_for_results(&self) -> bool {
        !self.rows.is_empty() || self.run.is_running() || self.wants_run
    }

    /// Rows that the table will have when the run has ended, for room that is kept for them; 0 where none is awaited.
    #[must_use]
    pub fn awaited_rows(&self) -> usize {
        if !self.run.is_running() {
            return 0;
        }
        let planned = self.sweep.as_ref().map_or(0, |view| view.sweep().rows().len());
        planned + self.imported().len()
    }

    /// The hash of the link that shows this form, and its results as they are looked at.
    #[must_use]
    pub fn hash(&self) -> String {
        let view = ResultsView { filter: self.filter.to_string(), sort: self.sort.clone() };
        BenchLink { config: self.config().0, view }.hash()
    }

    /// The reports alone.
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
            BenchAction::Edit(field, text) => {
                if let Some(i) = BENCH_FIELDS.iter().position(|f| *f == field) {
                    next.texts[i] = text;
                }
            }
            BenchAction::Load(config) => {
                next.texts = texts_of(&config);
                // A link carries no index: one that is on the page stays.
                if let Some(index) = config.index {
                    next.index = Some(Shared::new(index));
                }
            }
            BenchAction::Look(view) => (next.filter, next.sort) = (view.filter.into(), view.sort),
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
            BenchAction::Index(index) => next.index = index.map(|index| Shared::new(*index)),
            BenchAction::Scenario(more) => next.take_scenario(more),
        }
        next
    }

    fn start(&mut self, config: BenchConfig, notes: Vec<String>) {
        // A scenario's verdicts stand in their own list, beside the rows of the benchmark before it.
        if config.mlperf.is_some() {
            self.scenario = Shared::new(Vec::new());
        } else {
            self.rows = Shared::new(self.imported());
        }
        self.ran = Some(Shared::new(config));
        self.notes = notes.into_iter().map(Rc::from).collect();
        self.run = RunState::started("Starting");
        self.selected = None;
    }

    fn import(&mut self, reports: Vec<Report>) {
        let first = u32::try_from(self.imported().len()).unwrap_or(u32::MAX);
        let row =
            |(i, report): (u32, Report)| (RowId::Imported(i), Rc::new(RowResult { report, ..RowResult::default() }));
        self.rows = Shared::new(with_rows(&self.rows, (first..).zip(reports).map(row).collect()));
    }

    fn take_scenario(&mut self, more: Vec<ScenarioRow>) {
        let is_kept = |row: &&ScenarioRow| more.iter().all(|m| m.row != row.row);
        let mut rows: Vec<ScenarioRow> = self.scenario.iter().filter(is_kept).cloned().collect();
        rows.extend(more);
        rows.sort_by_key(|row| row.row);
        self.scenario = Shared::new(rows);
    }
}

/// The rows with these ones added or in place of earlier ones, in order.
fn with_rows(rows: &[ResultRow], more: Vec<(RowId, Rc<RowResult>)>) -> Vec<ResultRow> {
    let mut all: std::collections::BTreeMap<RowId, ResultRow> = rows.iter().map(|r| (r.id, r.clone())).collect();
    all.extend(more.into_iter().map(|(id, result)| (id, ResultRow::new(id, result))));
    all.into_values().collect()
}
