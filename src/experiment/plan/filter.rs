//! Which models of a list are run: a slice for this machine, then patterns.

use std::ops::Range;

use regex_lite::{Regex, RegexBuilder};

use super::tiers::tier_models;
use ns_base::{Refusal, refuse};

/// Patterns that models must match, and patterns that they must not. Case is ignored.
#[derive(Clone, Debug, Default)]
pub struct ModelFilter {
    wanted: Patterns,
    unwanted: Patterns,
}

/// Patterns and names; one match is enough.
#[derive(Clone, Debug, Default)]
struct Patterns {
    expressions: Vec<Regex>,
    names: Vec<&'static str>,
}

impl Patterns {
    fn new(patterns: &[String], tiers: &[i64]) -> Result<Self, Refusal> {
        let compile = |pattern: &String| {
            RegexBuilder::new(pattern)
                .case_insensitive(true)
                .build()
                .map_err(|e| refuse!("'{pattern}' is not a valid regular expression: {e}"))
        };
        let names = tiers.iter().filter_map(|t| tier_models(*t)).flatten().copied().collect();
        Ok(Self { expressions: patterns.iter().map(compile).collect::<Result<_, _>>()?, names })
    }

    fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.names.is_empty()
    }

    fn matches(&self, name: &str) -> bool {
        self.names.iter().any(|n| n.eq_ignore_ascii_case(name)) || self.expressions.iter().any(|e| e.is_match(name))
    }
}

impl ModelFilter {
    /// Models that match any of `filter`, or belong to any of `filter_tiers` (all models when both are empty),
    /// except those that match any of `exclude` or belong to any of `exclude_tiers`. Unknown tiers are ignored. An error names the
    /// first pattern that is not a regular expression.
    pub fn new(
        filter: &[String],
        exclude: &[String],
        filter_tiers: &[i64],
        exclude_tiers: &[i64],
    ) -> Result<Self, Refusal> {
        Ok(Self { wanted: Patterns::new(filter, filter_tiers)?, unwanted: Patterns::new(exclude, exclude_tiers)? })
    }

    /// Whether a model is kept.
    pub fn keeps(&self, model: &str) -> bool {
        (self.wanted.is_empty() || self.wanted.matches(model)) && !self.unwanted.matches(model)
    }
}

/// The part of a list of `length` that machine `id` of `total` works on. All parts have the same length except the last, which
/// also takes the remainder.
pub fn partition(length: usize, total: usize, id: usize) -> Range<usize> {
    let step = length / total.max(1);
    let start = step.saturating_mul(id).min(length);
    let end = if id + 1 >= total { length } else { step * (id + 1) };
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filter(filter: &[&str], exclude: &[&str]) -> ModelFilter {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        ModelFilter::new(&owned(filter), &owned(exclude), &[], &[]).unwrap()
    }

    #[test]
    fn exclusion_wins_and_nothing_means_all() {
        assert!(filter(&[], &[]).keeps("anything"));
        assert!(filter(&["GPT2$"], &[]).keeps("hf_gpt2"));
        assert!(!filter(&["gpt"], &["^hf_"]).keeps("hf_GPT2"));
        let unknown_tier = ModelFilter::new(&[], &[], &[9], &[]).unwrap();
        assert!(unknown_tier.keeps("anything"));
        let error = ModelFilter::new(&["(".to_owned()], &[], &[], &[]).unwrap_err();
        assert!(error.to_string().starts_with("'(' is not a valid regular expression"));
    }

    proptest! {
        #[test]
        fn parts_are_the_list(length in 0usize..500, total in 1usize..10) {
            let mut next = 0;
            for id in 0..total {
                let part = partition(length, total, id);
                prop_assert_eq!(part.start, next);
                next = part.end;
            }
            prop_assert_eq!(next, length);
        }
    }
}
