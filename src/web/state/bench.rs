//! The benchmark page: what is in the form, how far the run is, what it gave.

use std::rc::Rc;

use yew::prelude::*;

use super::RunState;
use crate::bench::{BenchConfig, Report};
use crate::session::share::{BENCH_FIELDS, BenchField, Link};
use crate::view::table::Sort;
use crate::web::context::Shared;

/// The benchmark page.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchState {
    texts: Vec<String>,
    /// How far the run is.
    pub run: RunState,
    /// Reports of the last run with their place in the sweep, in that order.
    pub reports: Shared<Vec<(u32, Rc<Report>)>>,
    /// What the last run had to say besides: configurations that were left out, a duration that is short.
    pub notes: Vec<AttrValue>,
    /// What the last run was asked to do.
    pub ran: Option<Shared<BenchConfig>>,
    /// How the table is sorted.
    pub sort: Option<Sort>,
    /// What the table is searched for.
    pub search: AttrValue,
}

/// What happens on the page.
pub enum BenchAction {
    /// A field was edited.
    Edit(BenchField, String),
    /// A link was opened.
    Load(BenchConfig),
    /// A run was started.
    Start(BenchConfig),
    /// The run went on.
    Progress(RunState),
    /// The run had something to say.
    Note(String),
    /// Configurations ended.
    Reports(Vec<(u32, Rc<Report>)>),
    /// The run ended.
    End(RunState),
    /// A head of the table was pressed.
    Sort(Sort),
    /// The table is searched.
    Search(AttrValue),
}

impl Default for BenchState {
    fn default() -> Self {
        Self {
            texts: texts_of(&BenchConfig::default()),
            run: RunState::Idle,
            reports: Shared::new(Vec::new()),
            notes: Vec::new(),
            ran: None,
            sort: None,
            search: AttrValue::default(),
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

    /// The configuration in the form, fields that can not be used left at their defaults, and what is wrong with those.
    #[must_use]
    pub fn config(&self) -> (BenchConfig, Vec<(BenchField, String)>) {
        let mut config = BenchConfig::default();
        let mut wrong = Vec::new();
        for (field, text) in BENCH_FIELDS.iter().zip(&self.texts) {
            if let Err(message) = field.set(&mut config, text) {
                wrong.push((*field, message));
            }
        }
        (config, wrong)
    }

    /// The link that shows this form.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::Benchmark(Box::new(self.config().0))
    }

    /// The reports alone.
    #[must_use]
    pub fn report_list(&self) -> Vec<Report> {
        self.reports.iter().map(|(_, r)| (**r).clone()).collect()
    }
}

impl Reducible for BenchState {
    type Action = BenchAction;

    fn reduce(self: Rc<Self>, action: BenchAction) -> Rc<Self> {
        let mut next = (*self).clone();
        match action {
            BenchAction::Edit(field, text) => {
                if let Some(i) = BENCH_FIELDS.iter().position(|f| *f == field) {
                    next.texts[i] = text;
                }
            }
            BenchAction::Load(config) => next.texts = texts_of(&config),
            BenchAction::Start(config) => {
                next.ran = Some(Shared::new(config));
                next.reports = Shared::new(Vec::new());
                next.notes.clear();
                next.run = RunState::started("Starting");
            }
            BenchAction::Progress(run) => {
                if next.run.is_running() {
                    next.run = run;
                }
            }
            BenchAction::Reports(more) => {
                let mut reports = (*next.reports).clone();
                reports.extend(more);
                reports.sort_by_key(|(row, _)| *row);
                next.reports = Shared::new(reports);
            }
            BenchAction::Note(note) => next.notes.push(note.into()),
            BenchAction::End(run) => next.run = run,
            BenchAction::Sort(sort) => next.sort = Some(sort),
            BenchAction::Search(search) => next.search = search,
        }
        next.into()
    }
}
