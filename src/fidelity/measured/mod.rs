//! Measured instructions, transfers and rates beside the costs of the model.

mod compare;
mod cost;
mod reasons;
mod row;

pub use compare::{RowComparison, compare, measured_markdown};
pub use row::{MeasuredRow, read_measured};
