//! How often an operation ran: a slice that continues an interrupted operation adds to its time and not to its
//! occurrences.
//!
//! The rows of operators of a Neuron profile have a slice for each stretch in which an operation is busy; all but the first
//! have the argument `"continues":true`.

use super::neuron::EXECUTION_PROCESS;
use super::{ArgsId, Profile, SliceId};
use ns_base::FxHashMap;

/// The argument of a slice that continues an operation.
const CONTINUES: &str = "\"continues\":true";

/// Distinguishes slices that begin an operation from slices that continue one.
#[derive(Debug, Default)]
pub struct Occurrences {
    /// Whether slices of the profile can have the argument.
    is_looked_for: bool,
    /// For each set of arguments whether it has the argument.
    says_so: FxHashMap<ArgsId, bool>,
}

impl Occurrences {
    /// Prepares the look-up for a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let is_looked_for = profile.strings().lookup(EXECUTION_PROCESS).is_some();
        Self { is_looked_for, says_so: FxHashMap::default() }
    }

    /// How many occurrences a slice counts as: 0 if it continues one.
    pub fn count(&mut self, profile: &Profile, id: SliceId) -> u64 {
        if !self.is_looked_for {
            return 1;
        }
        let args = profile.slices().args(id);
        let goes_on = self.says_so.entry(args).or_insert_with(|| profile.args().get(args).contains(CONTINUES));
        u64::from(!*goes_on)
    }
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
}
