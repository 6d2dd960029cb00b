//! Reports as people look at them: columns to choose from, rows to filter, plots to compare. No shell in here, so that the
//! page's numbers are tested natively.

mod columns;
mod filter;
mod plots;

pub use columns::{DEFAULT_COLUMNS, ReportCells, column_title, offered_columns, report_table};
pub use filter::{Filter, FilterTermError};
pub use plots::{configuration_text, scaling, series_text, throughput_by_configuration, throughput_latency};
