//! Statistics of every record, in the suite's columns.

mod analyzer;
mod fields;
mod metric_stats;
mod unlike;

pub use analyzer::Analyzer;
pub use analyzer::FIXED_COLUMNS;
pub use metric_stats::MetricStats;
