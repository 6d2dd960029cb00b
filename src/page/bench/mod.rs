//! The benchmark page: what is in the form, what is listed, how far the run is, what it gave.

mod rows;
mod state;
mod sweep_view;
#[cfg(test)]
mod tests;
mod tiles;

pub use rows::{ResultRow, RowId, ScenarioRow};
pub use state::{BenchAction, BenchState};
pub use sweep_view::{SweepView, overall_share};
pub use tiles::{Tile, Tiles};
