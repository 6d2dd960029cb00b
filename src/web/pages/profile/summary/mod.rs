//! The summary tool: sentences on what dominates, for any trace. A simulated execution also has findings in plain words,
//! bounds, the roofline, utilisation over time and all metrics.

mod findings;
mod in_short;
mod tables;
mod view;

pub use in_short::InShort;
pub use view::SummaryTool;
