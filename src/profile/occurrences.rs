//! How often an operation ran: a slice that continues an interrupted operation adds to its time and not to its
//! occurrences.
//!
//! The rows of operators of a Neuron profile have a slice for each stretch in which an operation is busy; all but the first
//! have the argument `"continues":true`. A slice that is the sum of several events has their number as `num_occurrences`.

use super::neuron::EXECUTION_PROCESS;
use super::{ArgsId, Profile, SliceId};
use ns_base::FxHashMap;
use rustc_hash::FxHasher;
use std::hash::Hasher as _;

/// The argument of a slice that continues an operation.
const CONTINUES: &str = "\"continues\":true";

/// The argument of a slice that is a sum of several events, with their number. A profile that has one has this among its texts.
pub const NUM_OCCURRENCES: &str = "num_occurrences";

/// Distinguishes slices that begin an operation from slices that continue one.
#[derive(Debug, Default)]
pub struct Occurrences {
    /// Whether slices of the profile can have the argument.
    is_looked_for: bool,
    /// Whether slices of the profile can be sums.
    has_sums: bool,
    /// For each set of arguments what it says.
    says: FxHashMap<ArgsId, Stretch>,
}

/// A slice of an operation that can be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// A number of the operation, by its arguments; equal for all its slices.
    pub operation: u64,
    /// Whether the slice continues the operation.
    pub goes_on: bool,
}

impl Occurrences {
    /// Prepares the look-up for a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let is_looked_for = profile.strings().lookup(EXECUTION_PROCESS).is_some();
        let has_sums = profile.strings().lookup(NUM_OCCURRENCES).is_some();
        Self { is_looked_for, has_sums, says: FxHashMap::default() }
    }

    /// How many occurrences a slice counts as: 0 if it continues one.
    pub fn count(&mut self, profile: &Profile, id: SliceId) -> u64 {
        match self.stretch(profile, id) {
            Some(Stretch { goes_on: true, .. }) => 0,
            _ => self.events(profile, id),
        }
    }

    /// The number of events that a slice stands for: more than one if it is a sum.
    pub fn events(&self, profile: &Profile, id: SliceId) -> u64 {
        if self.has_sums { summed(profile.args().get(profile.slices().args(id))) } else { 1 }
    }

    /// The operation of a slice; `None` in profiles whose operations are never interrupted.
    pub fn stretch(&mut self, profile: &Profile, id: SliceId) -> Option<Stretch> {
        if !self.is_looked_for {
            return None;
        }
        let args = profile.slices().args(id);
        Some(*self.says.entry(args).or_insert_with(|| Stretch::of(profile.args().get(args))))
    }
}

impl Stretch {
    fn of(args: &str) -> Self {
        let Some((before, after)) = args.split_once(CONTINUES) else {
            return Self { operation: number_of([args, ""]), goes_on: false };
        };
        // The comma goes with the argument; a slice without any other has no arguments where it begins.
        let (before, after) = match after.strip_prefix(',') {
            Some(after) => (before, after),
            None => (before.strip_suffix(',').unwrap_or(before), after),
        };
        let rest = if (before, after) == ("{", "}") { ["", ""] } else { [before, after] };
        Self { operation: number_of(rest), goes_on: true }
    }
}

/// The number in the argument of a sum.
fn summed(args: &str) -> u64 {
    let number = args.split_once(NUM_OCCURRENCES).and_then(|(_, rest)| rest.strip_prefix("\":"));
    let digits = number.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

fn number_of(args: [&str; 2]) -> u64 {
    let mut hasher = FxHasher::default();
    args.iter().flat_map(|part| part.bytes()).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileBuilder;
    use ns_base::Diagnostics;

    #[test]
    fn continued_slices_are_no_occurrences_only_in_neuron_profiles() {
        for (process, counts) in [(EXECUTION_PROCESS, [1, 0, 1]), ("python", [1, 1, 1])] {
            let mut b = ProfileBuilder::new("test");
            let p = b.process("1", process);
            let t = b.thread(p, "1", "HLO Ops");
            b.slice(t, 0, 5, "dot", "dot", None);
            b.slice(t, 10, 5, "dot", "dot", Some(r#"{"path":"NN/Linear","continues":true}"#));
            b.slice(t, 20, 5, "dot", "dot", Some(r#"{"continues":false}"#));
            let profile = b.finish(Diagnostics::new());
            let mut occurrences = Occurrences::of(&profile);
            let found: Vec<u64> = profile.slices().ids().map(|id| occurrences.count(&profile, id)).collect();
            assert_eq!(found, counts, "{process}");
        }
    }

    #[test]
    fn the_stretches_of_an_operation_have_its_number() {
        let number = |args: &str| Stretch::of(args).operation;
        for (begins, continues) in [
            (r#"{"hlo":"%a","path":"N/x"}"#, r#"{"continues":true,"hlo":"%a","path":"N/x"}"#),
            (r#"{"hlo":"%a","path":"N/x"}"#, r#"{"hlo":"%a","path":"N/x","continues":true}"#),
            ("", r#"{"continues":true}"#),
        ] {
            assert_eq!(number(begins), number(continues), "{continues}");
            assert!(Stretch::of(continues).goes_on && !Stretch::of(begins).goes_on);
        }
        assert_ne!(number(r#"{"path":"N/x"}"#), number(r#"{"path":"N/y"}"#));
    }
}
