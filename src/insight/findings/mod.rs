//! Findings in plain words, each with its numbers and the slices that show it; one file per rule.
//!
//! A rule is silent unless its statement holds for the slices of this run. Findings that cost time come first, ranked
//! by the time they are about, then their symptoms, then findings that save time, then findings that explain the
//! timeline.

mod constants;
mod context;
mod custom_operator;
mod data_transfer;
mod finding;
mod inputs_in_step;
mod overlap;
mod products_removed;
mod small_transfers;
mod spills;
mod tables;
mod transposes;
mod unfused;
mod waits;

pub use finding::{Effect, Finding, Rule, SliceRange};

use super::{Run, Summary};
use context::Context;

/// A rule: returns all of its findings.
type Find = fn(&Context<'_>) -> Vec<Finding>;

const RULES: &[Find] = &[
    products_removed::find,
    custom_operator::find,
    data_transfer::find,
    spills::find,
    waits::find,
    small_transfers::find,
    inputs_in_step::find,
    transposes::find,
    unfused::find,
    tables::find,
    overlap::find,
    constants::find,
];

/// The findings for a run with this summary, ranked.
#[must_use]
pub fn findings(run: &Run<'_>, summary: &Summary) -> Vec<Finding> {
    let context = Context::new(run, summary);
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&context)).collect();
    found.sort_by_key(|f| (f.effect, std::cmp::Reverse(f.time_ns), f.rule));
    found
}

/// The findings of one rule, for the tests of the rules.
#[cfg(test)]
fn only(rule: Find, run: &Run<'_>) -> Vec<Finding> {
    rule(&Context::new(run, &Summary::of(run, &ns_machine::arch::NEURONCORE_V2)))
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
        let found = findings(&run, &Summary::of(&run, &NEURONCORE_V2));
        let brief: Vec<_> = found.iter().map(|f| (f.rule, f.time_ns)).collect();
        assert_eq!(
            brief,
            [
                (Rule::DataTransferDominates, 60),
                (Rule::SmallTransfers, 60),
                (Rule::InputsInStep, 60),
                (Rule::OverlapSavesTime, 30),
            ]
        );
    }

    #[test]
    fn an_empty_run_gives_no_findings() {
        let t = TestRun::new(0, 0);
        let run = t.run();
        assert!(findings(&run, &Summary::of(&run, &NEURONCORE_V2)).is_empty());
    }
}
