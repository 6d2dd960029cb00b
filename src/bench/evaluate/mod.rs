//! NeuronPerf's evaluation metrics: they say how good a model's answers are, in addition to how fast they come.
//!
//! The guide's table prints wrong formulas for two of them (false discovery and false omission rate); these are the
//! standard ones.

mod answers;
mod confusion;
mod formula;
mod judged;
mod metric;
mod registry;

pub use answers::{Answering, check_records};
pub use confusion::Confusion;
pub use formula::Formula;
pub use judged::JudgedRecords;
pub use metric::{METRICS, Metric, MetricInfo, Record, evaluate, find_metric, metrics_to_text};
pub use registry::Metrics;
