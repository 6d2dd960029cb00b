//! Names as tools count them: each by itself, or all instances of an operation as one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::GroupBy;
use super::opcode::opcode;
use ns_base::{FxHashMap, Idx, StrId};
use ns_profile::Profile;
use ns_profile::levels::Family;

/// Whether instances of one operation count as one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Instances {
    /// Names that differ only in a number or in template arguments count as one.
    #[default]
    Merged,
    /// Each name counts by itself.
    Each,
}

impl Instances {
    /// The grouping by name that counts like this.
    pub const fn group_by(self) -> GroupBy {
        match self {
            Self::Merged => GroupBy::Operation,
            Self::Each => GroupBy::Name,
        }
    }
}

/// For each name of a profile's slices, the name that it counts with.
///
/// In a profile of NeuronCores each name counts by itself: `fused_3` and `fused_4` are different programs, and other names have
/// no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// By name, the first name of the same operation; empty if each name counts by itself.
    first: Vec<StrId>,
}

impl Names {
    /// Reads the names of all slices if instances are merged.
    #[must_use]
    pub fn of(profile: &Profile, instances: Instances) -> Self {
        if instances == Instances::Each || profile.levels().family() == Family::Neuron {
            return Self::default();
        }
        let mut first = vec![StrId::EMPTY; profile.strings().len()];
        let mut of_operation: FxHashMap<Cow<'_, str>, StrId> = FxHashMap::default();
        let slices = profile.slices();
        for id in slices.ids() {
            let name = slices.name(id);
            match first.get_mut(name.index()) {
                Some(slot) if *slot == StrId::EMPTY && name != StrId::EMPTY => {
                    *slot = *of_operation.entry(opcode(profile.str(name))).or_insert(name);
                }
                _ => {}
            }
        }
        Self { first }
    }

    /// The first name of the same operation, or the name itself.
    pub fn first(&self, name: StrId) -> StrId {
        self.first.get(name.index()).copied().filter(|first| *first != StrId::EMPTY).unwrap_or(name)
    }

    /// The text of a name: its operation if instances are merged.
    pub fn text<'p>(&self, profile: &'p Profile, name: StrId) -> Cow<'p, str> {
        if self.is_merged() { opcode(profile.str(name)) } else { Cow::Borrowed(profile.str(name)) }
    }

    /// The first name of an operation, which may be written as any of its instances; `None` if no slice has it.
    pub fn find(&self, profile: &Profile, text: &str) -> Option<StrId> {
        let exact = profile.strings().lookup(text).map(|name| self.first(name));
        if !self.is_merged() || text.is_empty() {
            return exact;
        }
        let operation = opcode(text);
        let firsts =
            self.first.iter().enumerate().filter(|(at, first)| first.index() == *at && **first != StrId::EMPTY);
        firsts.map(|(_, first)| *first).find(|first| opcode(profile.str(*first)) == operation)
    }

    /// Whether instances count as one name.
    pub fn is_merged(&self) -> bool {
        !self.first.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    #[test]
    fn instances_count_with_the_first_of_their_operation() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "gpu");
        let t = b.thread(p, "7", "stream 7");
        for (i, name) in ["void n::f<1>(int)", "gemm", "void n::f<2>(int)", ""].into_iter().enumerate() {
            b.slice(t, i as i64 * 10, 5, name, "kernel", None);
        }
        let profile = b.finish(Diagnostics::new());
        let id = |text: &str| profile.strings().lookup(text).unwrap();
        let merged = Names::of(&profile, Instances::Merged);
        assert_eq!(merged.first(id("void n::f<2>(int)")), id("void n::f<1>(int)"));
        assert_eq!(merged.text(&profile, id("void n::f<1>(int)")), "f");
        for text in ["f", "void n::f<2>(int)", "void n::f<3>(int)"] {
            assert_eq!(merged.find(&profile, text), Some(id("void n::f<1>(int)")), "{text}");
        }
        assert_eq!((merged.find(&profile, "g"), merged.find(&profile, "")), (None, Some(StrId::EMPTY)));
        let each = Names::of(&profile, Instances::Each);
        assert_eq!(each.first(id("void n::f<2>(int)")), id("void n::f<2>(int)"));
        assert_eq!((each.find(&profile, "f"), each.text(&profile, id("gemm"))), (None, "gemm".into()));
    }
}
