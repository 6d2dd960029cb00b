//! The experiments of a plan as a sweep: rows that workers run in any order, each of which ends as a line of `results.jsonl`.
//!
//! ```text
//! ExperimentsRequest -> ExperimentsPlan (a row for each experiment) -> SweepOf<Experiments> -> ExperimentRow (a line)
//! ```
//!
//! Everything here can be sent between programs that do not describe their messages: configurations and records, whose fields may be
//! absent, travel as JSON.

mod kind;
mod plan_rows;
mod row;

pub use kind::{Experiments, ExperimentsRun};
pub use plan_rows::{ExperimentsPlan, ExperimentsRequest, PlannedExperiment};
pub use row::ExperimentRow;
