//! Statistics of every record, in the suite's columns.

mod analyzer;
mod columns;
mod fields;
mod metric_stats;
mod unlike;

pub use analyzer::Analyzer;
pub use columns::FIXED_COLUMNS;
pub use metric_stats::MetricStats;
