//! The state of the benchmark page: the form, the listed configurations, the progress of the run, its results.

mod asks;
mod example;
mod opened_plan;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod tiles;
mod wish;

pub use opened_plan::OpenedPlan;
pub use rows::{ResultRow, RowId, ScenarioRow};
pub use state::{BenchAction, BenchState};
pub use tiles::{Tile, Tiles};
