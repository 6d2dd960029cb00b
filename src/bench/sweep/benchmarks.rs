//! The sweep of a benchmark: each row is a configuration, each result a row of the report.

use std::rc::Rc;

use super::plan::{PlannedRow, SweepPlan};
use super::state::{SweepKind, SweepOf};
use crate::config::bench_config::BenchConfig;
use crate::config::configuration::Configuration;
use crate::reports::report::Report;
use crate::run::configuration_run::RowResult;
use crate::run::estimate::Estimate;
use ns_base::Refusal;

/// The kind of sweeps that benchmarks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benchmarks;

/// The sweep of a benchmark.
pub type SweepState = SweepOf<Benchmarks>;

impl SweepKind for Benchmarks {
    type Config = BenchConfig;
    type Planned = PlannedRow;
    type Item = Configuration;
    type Result = RowResult;
    /// Charts and measurements are not written: a file of a sweep holds reports.
    type Stored = Report;

    const ROWS: &'static str = "configurations";

    fn item(planned: &PlannedRow) -> &Configuration {
        &planned.configuration
    }

    fn key(planned: &PlannedRow) -> &str {
        &planned.key
    }

    fn events(planned: &PlannedRow) -> Option<u64> {
        planned.estimate.map(|e| e.events)
    }

    fn is_finished(result: &RowResult) -> bool {
        result.report.is_finished()
    }

    fn stored(result: &RowResult) -> &Report {
        &result.report
    }

    fn of_stored(report: Report) -> RowResult {
        RowResult { report, ..RowResult::default() }
    }
}

impl SweepOf<Benchmarks> {
    /// Plans the sweep of a benchmark, with every row waiting.
    ///
    /// # Errors
    /// When the benchmark cannot be expanded.
    pub fn new(config: BenchConfig) -> Result<Self, Refusal> {
        let plan = SweepPlan::of(&config)?;
        Ok(Self::of(config, plan))
    }

    /// The sweep of a benchmark whose plan is known, with every row waiting.
    #[must_use]
    pub fn of(config: BenchConfig, plan: SweepPlan) -> Self {
        Self::of_rows(config, plan.rows, plan.messages)
    }

    /// Takes an estimate, or the reason a configuration cannot run.
    pub fn learn(&mut self, row: u32, estimate: Result<Estimate, String>) {
        let Some(row) = self.rows.get_mut(row as usize) else { return };
        let planned = &mut Rc::make_mut(row).planned;
        match estimate {
            Ok(estimate) => planned.estimate = Some(estimate),
            Err(problem) => planned.problem = Some(problem),
        }
    }

    /// The reports that exist so far, in the order of the sweep.
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.rows.iter().filter_map(|row| row.result()).map(|result| &result.report)
    }
}
