//! Experiments as a kind of sweep.

use serde::{Deserialize, Serialize};

use super::plan_rows::{ExperimentsRequest, PlannedExperiment};
use super::row::ExperimentRow;
use ns_bench::SweepKind;

/// The kind of sweeps that the experiments of a plan are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiments;

/// A run of a plan: what was asked, when, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentsRun {
    pub request: ExperimentsRequest,
    /// The timestamp of every record, seconds since 1970.
    pub timestamp: f64,
    /// Name of the processor, for records of measurements.
    pub processor: String,
}

impl SweepKind for Experiments {
    type Config = ExperimentsRun;
    type Planned = PlannedExperiment;
    type Item = PlannedExperiment;
    type Result = ExperimentRow;
    type Stored = ExperimentRow;

    const ROWS: &'static str = "experiments";

    fn item(planned: &PlannedExperiment) -> &PlannedExperiment {
        planned
    }

    fn key(planned: &PlannedExperiment) -> &str {
        &planned.key
    }

    fn events(_: &PlannedExperiment) -> Option<u64> {
        None
    }

    fn is_finished(result: &ExperimentRow) -> bool {
        result.error.is_none() || result.is_skip
    }

    fn stored(result: &ExperimentRow) -> &ExperimentRow {
        result
    }

    fn of_stored(stored: ExperimentRow) -> ExperimentRow {
        stored
    }
}
