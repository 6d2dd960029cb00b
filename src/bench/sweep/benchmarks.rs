//! The sweep of a benchmark: each row is a configuration, each result a row of the report.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::plan::{PlannedRow, SweepPlan};
use super::state::{RowState, SweepKind, SweepOf};
use crate::config::bench_config::BenchConfig;
use crate::config::configuration::Configuration;
use crate::reports::report::Report;
use crate::run::configuration_run::RowResult;
use crate::run::estimate::Estimate;
use ns_base::Refusal;

/// The kind of sweeps that benchmarks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benchmarks;

/// A finished row as a file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRow {
    /// Names everything that decides the report.
    pub key: String,
    pub report: Report,
}

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
    /// Plans the sweep of a benchmark, with every row waiting. Fails when the benchmark cannot be expanded.
    pub fn new(config: BenchConfig) -> Result<Self, Refusal> {
        let plan = SweepPlan::of(&config)?;
        Ok(Self::of(config, plan))
    }

    /// The sweep of a benchmark whose plan is known, with every row waiting.
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

    /// A row as a file keeps it, if it has finished.
    pub fn kept(&self, row: u32) -> Option<KeptRow> {
        let row = self.rows.get(row as usize)?;
        let report = &row.result().filter(|result| Benchmarks::is_finished(result))?.report;
        Some(KeptRow { key: row.planned.key.clone(), report: report.clone() })
    }

    /// Takes over finished rows of earlier sweeps for configurations that are the same in everything; returns how many.
    pub fn adopt(&mut self, kept: impl IntoIterator<Item = KeptRow>) -> usize {
        let mut kept: BTreeMap<String, Report> = kept.into_iter().map(|row| (row.key, row.report)).collect();
        let mut adopted = 0;
        for row in self.rows.iter_mut().filter(|row| row.state == RowState::Waiting) {
            if let Some(report) = kept.remove(&row.planned.key) {
                Rc::make_mut(row).state = RowState::Done(Rc::new(Benchmarks::of_stored(report)));
                adopted += 1;
            }
        }
        adopted
    }

    /// The reports that exist so far, in the order of the sweep.
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.rows.iter().filter_map(|row| row.result()).map(|result| &result.report)
    }
}
