//! All analyses of one execution.

use serde::{Deserialize, Serialize};

use super::{Bounds, Finding, Limiter, OperatorTime, Roofline, Run, Summary, Utilisation, findings, time_by_operator};
use ns_machine::arch::CoreSpec;

/// Buckets of [`Insights::utilisation`]: as many as a plot of a page's width can show.
pub const UTILISATION_BUCKETS: usize = 100;

/// The analysis of one execution on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insights {
    /// Summary metrics.
    pub summary: Summary,
    /// What limits it.
    pub limiter: Limiter,
    /// Engine time of each framework operator, the longest first.
    pub operators: Vec<OperatorTime>,
    /// Performance bounds.
    pub bounds: Bounds,
    /// The roofline and the rates that were reached.
    pub roofline: Roofline,
    /// Activity over time.
    pub utilisation: Utilisation,
    /// Findings, ranked.
    pub findings: Vec<Finding>,
}

impl Insights {
    /// Analyses a run on a core.
    pub fn of(run: &Run<'_>, core: &CoreSpec) -> Self {
        let summary = Summary::of(run, core);
        let limiter = Limiter::of(run);
        Self {
            operators: time_by_operator(run),
            bounds: Bounds::of(run, &summary, &limiter, core),
            roofline: Roofline::of(run, core),
            utilisation: Utilisation::of(run, UTILISATION_BUCKETS),
            findings: findings(run, &summary, &limiter),
            summary,
            limiter,
        }
    }
}
