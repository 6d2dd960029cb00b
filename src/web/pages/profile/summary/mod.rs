//! The summary tool: findings in plain words, bounds, the roofline, utilisation over time, all metrics.

mod findings;
mod tables;
mod view;

pub use view::SummaryView;
