//! All analyses of one execution.

use serde::{Deserialize, Serialize};

use super::findings::quote_limits;
use super::{Bounds, Finding, Limiter, OperatorTime, Roofline, Run, Summary, Utilisation, findings, time_by_operator};
use ns_base::units::{capital, format_ns, format_share};
use ns_machine::arch::CoreSpec;
use ns_machine::cost::{Gains, limit_words};

/// Buckets of [`Insights::utilisation`]: as many as a plot of a page's width can show.
pub const UTILISATION_BUCKETS: usize = 100;

/// The title of the table of limits.
pub const LIMITS_TITLE: &str = "What each limit costs";

/// The analysis of one execution on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insights {
    /// Summary metrics.
    pub summary: Summary,
    /// How long its units work.
    pub limiter: Limiter,
    /// What it would gain without each limit of the core; absent until it is computed.
    pub limits: Option<Gains>,
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
            limits: None,
        }
    }

    /// Takes what the execution would gain without each limit; the findings about limits quote it.
    pub fn set_limits(&mut self, gains: Gains) {
        self.limits = Some(gains);
        let bound = self.limits.as_ref().and_then(Gains::bound).zip(self.bound_sentence());
        if let Some(gains) = &self.limits {
            quote_limits(&mut self.findings, &self.limiter, gains, bound);
        }
    }

    /// The limits that cost time, the bound first: its title, nanoseconds, percent of the total time. Empty where they are not computed.
    pub fn limit_costs(&self) -> Vec<(String, f64, f64)> {
        let ranked = self.limits.as_ref().map(Gains::ranked).unwrap_or_default();
        let cost = |(name, us): (&str, f64)| (capital(limit_words(name)), us * 1e3, us / 1e4 / self.summary.total_time);
        ranked.into_iter().map(cost).collect()
    }

    /// What bounds the execution, and whether the busiest unit is that: `Bound by vector engine: without this limit the execution takes 190 us
    /// less (20.2 % of 941 us). ...` `None` if no limit costs time, or their costs are not computed.
    pub fn bound_sentence(&self) -> Option<String> {
        let gains = self.limits.as_ref()?;
        let words = gains.bound.as_deref().map(limit_words)?;
        let (_, ns, percent) = self.limit_costs().into_iter().next()?;
        let first = format!(
            "Bound by {words}: without this limit the execution takes {} less ({} of {}).",
            format_ns(ns),
            format_share(percent),
            format_ns(self.summary.total_time * 1e9)
        );
        let busiest = self.limiter.first().map(|first| first.resource)?;
        let own = busiest.limit().name();
        if gains.bound.as_deref() == Some(own) {
            return Some(first);
        }
        let rest = format_ns(gains.saves_us.get(own).copied().unwrap_or_default() * 1e3);
        let name = busiest.name();
        Some(format!("{first} {name} is busy longest: without its limit the execution takes {rest} less."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::testing::{TestRun, dma};
    use ns_base::SimTime;
    use ns_machine::arch::NEURONCORE_V2;
    use ns_machine::cost::Limit;

    #[test]
    fn the_bound_is_named_beside_the_busiest_unit() {
        let mut t = TestRun::new(0, 1_000);
        let dot = t.source("m/dot", "dot");
        t.queue("q", (0, 900), dot, dma(Role::Weight, 2, 1));
        let mut insights = Insights::of(&t.run(), &NEURONCORE_V2);
        assert_eq!(insights.bound_sentence(), None);
        let mut bound = |limit: Limit| {
            let without = |one| Ok::<_, ()>(SimTime::from_ns(if one == limit { 500 } else { 990 }));
            insights.set_limits(Gains::of(SimTime::from_ns(1_000), without).unwrap());
            insights.bound_sentence().unwrap()
        };
        let same = "Bound by DMA rate: without this limit the execution takes 500 ns less (50.0 % of 1.00 \u{b5}s).";
        assert_eq!(bound(Limit::DmaRate), same);
        let other = bound(Limit::Vector);
        assert!(
            other.starts_with("Bound by vector engine:")
                && other.ends_with("Data transfer is busy longest: without its limit the execution takes 10 ns less."),
            "{other}"
        );
    }
}
