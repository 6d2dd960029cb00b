//! From measurements to reports: NeuronPerf's keys and formulas, kept results, plots, the verdict.

pub(super) mod beside;
pub(super) mod calendar;
pub(super) mod charts;
pub(super) mod confidence;
pub(super) mod products;
pub(super) mod report;
pub(super) mod results;
pub(super) mod sharing;
pub(super) mod summarise;
pub(super) mod timed_results;
pub(super) mod value;
pub(super) mod verdict;
