//! Reports as people look at them: columns to choose from, rows to filter, plots to compare, pieces to keep. No shell in here, so that the
//! page's numbers are tested natively.

mod charts;
mod columns;
mod filter;
mod kept;
mod plots;

pub use charts::{latency_curves, latency_histogram, throughput_over_time};
pub use columns::{DEFAULT_COLUMNS, ReportCells, column_title, offered_columns, report_table, shown_columns};
pub use filter::{Filter, FilterTermError};
pub use kept::{KeptHead, RestoredSweep, keep_row, restore_sweep};
pub use plots::{configuration_text, scaling, series_text, throughput_by_configuration, throughput_latency};
