//! What was asked for last, and the sweep that ran last: the page draws the sweep only if it is what was asked for.

use std::rc::Rc;

use super::{ResultRow, ScenarioRow};
use crate::sweep::SweepView;
use crate::{RunState, Shared};
use ns_base::Order;
use ns_bench::BenchConfig;

/// What the page was asked for last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Wish {
    /// Nothing: the page shows its form.
    #[default]
    Form,
    /// The results of this benchmark.
    Run(Shared<BenchConfig>),
    /// A file of this name, which is being read, or was refused.
    File(Rc<str>),
}

impl Wish {
    /// Whether this sweep is what was asked for.
    pub(super) fn is_of(&self, own: &OwnSweep) -> bool {
        matches!((self, &own.config), (Self::Run(wanted), Some(ran)) if **wanted == **ran)
    }
}

/// The sweep that runs, or ran last, whatever was asked for since.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnSweep {
    pub(super) config: Option<Shared<BenchConfig>>,
    pub(super) run: RunState,
    /// Whether its rows are known: before that it is planned.
    pub(super) has_started: bool,
    pub(super) rows: Shared<Vec<ResultRow>>,
    pub(super) scenario: Shared<Vec<ScenarioRow>>,
    pub(super) notes: Vec<Rc<str>>,
    pub(super) sweep: Option<SweepView>,
}

impl Default for OwnSweep {
    fn default() -> Self {
        Self {
            config: None,
            run: RunState::Idle,
            has_started: false,
            rows: Shared::new(Vec::new()),
            scenario: Shared::new(Vec::new()),
            notes: Vec::new(),
            sweep: None,
        }
    }
}

impl OwnSweep {
    /// One that is about to start.
    pub(super) fn planned(config: BenchConfig) -> Self {
        Self { config: Some(Shared::new(config)), run: RunState::started("Starting"), ..Self::default() }
    }

    /// One that started, with its notes.
    pub(super) fn started(config: BenchConfig, notes: Vec<String>) -> Self {
        let notes = notes.into_iter().map(Rc::from).collect();
        Self { has_started: true, notes, ..Self::planned(config) }
    }

    /// Whether something came of it, or comes.
    pub(super) fn has_come(&self) -> bool {
        self.run.is_running() || !self.rows.is_empty() || !self.scenario.is_empty()
    }

    pub(super) fn take_scenario(&mut self, more: Vec<ScenarioRow>) {
        let is_kept = |row: &&ScenarioRow| more.iter().all(|m| m.row != row.row);
        let mut rows: Vec<ScenarioRow> = self.scenario.iter().filter(is_kept).cloned().collect();
        rows.extend(more);
        rows.order_by_key(|row| row.row);
        self.scenario = Shared::new(rows);
    }
}
