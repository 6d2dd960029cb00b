//! The summary tool: what dominates in sentences, for any trace; and of a simulated execution findings in plain words, bounds, the roofline, utilisation over time, all metrics.

mod findings;
mod in_short;
mod tables;
mod view;

pub use in_short::InShort;
pub use view::SummaryView;
