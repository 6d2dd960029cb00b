//! Findings in plain words, each with its numbers and the slices that show it; one file per rule.
//!
//! A rule is silent unless its statement holds for the slices of this run. Findings that cost time come first, ranked
//! by the most that they can save, then their symptoms, then findings that save time, then findings that explain the
//! timeline.

mod clock_limit;
mod constants;
mod context;
mod finding;
mod inputs_in_step;
mod limiting_unit;
mod overlap;
mod products_removed;
mod small_transfers;
mod spills;
mod tables;
mod training_parts;
mod transposes;
mod unfused;
mod waits;

pub use finding::{Effect, Finding, Rule, SliceRange};

use super::{Limiter, Run, Summary};
use context::Context;
use ns_base::Order;
use ns_machine::cost::{Gains, Limit};

/// A rule: returns all of its findings.
type Find = fn(&Context<'_>) -> Vec<Finding>;

const RULES: &[Find] = &[
    products_removed::find,
    limiting_unit::find,
    clock_limit::find,
    spills::find,
    waits::find,
    small_transfers::find,
    inputs_in_step::find,
    transposes::find,
    unfused::find,
    tables::find,
    overlap::find,
    constants::find,
    training_parts::find,
];

/// The findings for a run with this summary, ranked.
pub fn findings(run: &Run<'_>, summary: &Summary, limiter: &Limiter) -> Vec<Finding> {
    let context = Context::new(run, summary, limiter);
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&context)).collect();
    let leaves_out = |f: &&mut Finding| f.effect == Effect::Cost && !f.rule.touches().is_empty();
    for finding in found.iter_mut().filter(leaves_out) {
        finding.saves_ns = Some(limiter.saving_ns(finding.time_ns, finding.rule.touches()));
    }
    rank(&mut found);
    found
}

/// Gives the findings about limits of the core what the execution gains without them. `bound` has the largest gain, and a sentence says so.
pub(crate) fn quote_limits(found: &mut [Finding], limiter: &Limiter, gains: &Gains, bound: Option<(Limit, String)>) {
    for finding in found.iter_mut().filter(|finding| finding.is_of_limit()) {
        let limits = finding.rule.limits();
        let gain = limits.iter().map(|limit| gains.ns(*limit)).sum();
        // One limit is all that the finding is about; of several, a remedy lowers a part.
        if limits.len() == 1 {
            finding.time_ns = finding.time_ns.max(gain);
        }
        finding.saves_ns = Some(finding.time_ns.min(gain));
    }
    let limiting = found.iter_mut().find(|finding| finding.rule == Rule::LimitingUnit);
    if let Some((finding, (limit, sentence))) = limiting.zip(bound) {
        finding.name_bound(limit, gains.ns(limit), sentence, limiter);
    }
    rank(found);
}

/// Sorts findings: costs first, the largest saving first. A cost whose saving is not computed yet comes before the other costs.
fn rank(found: &mut [Finding]) {
    found.order_by_key(|f| {
        let saves = std::cmp::Reverse(f.saves_ns.unwrap_or(u64::MAX));
        (f.effect, !f.is_warning(), saves, std::cmp::Reverse(f.time_ns), f.rule)
    });
}

/// The findings of one rule, for the tests of the rules.
#[cfg(test)]
fn only(rule: Find, run: &Run<'_>) -> Vec<Finding> {
    rule(&Context::new(run, &Summary::of(run, &ns_machine::arch::NEURONCORE_V2), &Limiter::of(run)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::arch::NEURONCORE_V2;
    use ns_machine::isa::Engine;

    #[test]
    fn costs_come_first_and_the_longest_of_them_leads() {
        let mut t = TestRun::new(0, 100);
        let s = t.source("m/op", "add");
        t.queue("q", (0, 90), s, dma(Role::StagedInput, 100, 1));
        t.item(Engine::Vector, (60, 100), s, Work::Elementwise);
        let run = t.run();
        let found = findings(&run, &Summary::of(&run, &NEURONCORE_V2), &Limiter::of(&run));
        let brief: Vec<_> = found.iter().map(|f| (f.rule, f.time_ns)).collect();
        assert_eq!(
            brief,
            [
                (Rule::LimitingUnit, 90),
                (Rule::SmallTransfers, 60),
                (Rule::InputsInStep, 60),
                (Rule::OverlapSavesTime, 30),
            ]
        );
    }

    /// A finding about a limit saves what the simulation without that limit saves. A finding about a copy keeps its own saving.
    #[test]
    fn findings_about_limits_quote_the_simulation_without_them() {
        let mut t = TestRun::new(0, 100);
        let s = t.source("m/op", "add");
        t.queue("q", (0, 90), s, dma(Role::StagedInput, 100, 1));
        t.item(Engine::Vector, (60, 100), s, Work::Elementwise);
        let mut insights = crate::Insights::of(&t.run(), &NEURONCORE_V2);
        let saves = |insights: &crate::Insights| -> Vec<_> {
            insights.findings.iter().filter(|f| f.effect == Effect::Cost).map(|f| (f.rule, f.saves_ns)).collect()
        };
        let copy = (Rule::InputsInStep, Some(60));
        assert_eq!(saves(&insights), [(Rule::LimitingUnit, None), (Rule::SmallTransfers, None), copy]);
        let without = |limit| match limit {
            Limit::DmaRate => 80,
            Limit::DmaIssue => 95,
            Limit::Vector => 70,
            _ => 100,
        };
        let total = ns_base::SimTime::from_ns(100);
        insights.set_limits(Gains::of(total, |limit| Ok::<_, ()>(ns_base::SimTime::from_ns(without(limit)))).unwrap());
        assert_eq!(saves(&insights), [copy, (Rule::LimitingUnit, Some(30)), (Rule::SmallTransfers, Some(25))]);
    }

    #[test]
    fn an_empty_run_gives_no_findings() {
        let t = TestRun::new(0, 0);
        let run = t.run();
        assert!(findings(&run, &Summary::of(&run, &NEURONCORE_V2), &Limiter::of(&run)).is_empty());
    }
}
