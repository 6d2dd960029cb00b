//! The slices of one group: for a list, for stepping through them, for highlighting, and for a histogram.

use serde::{Deserialize, Serialize};

use super::{GroupBy, Grouping, Selection, SliceCursor};
use ns_base::Order;
use ns_profile::fused::Part;
use ns_profile::{Profile, SliceId};

/// The order in which slices are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MemberOrder {
    /// In order of their start.
    #[default]
    Time,
    /// The longest first, ties by start.
    Longest,
}

/// Finds the slices of one group, a part at a time.
#[derive(Debug)]
pub struct MemberPass {
    selection: Selection,
    grouping: Grouping,
    group: Option<u32>,
    cursor: SliceCursor,
    found: Vec<(SliceId, i64)>,
}

impl MemberPass {
    /// Prepares the pass: the slices of the selection whose group has this name. Unclosed slices are left out.
    #[must_use]
    pub fn new(profile: &Profile, selection: Selection, by: GroupBy, name: &str) -> Self {
        let grouping = Grouping::new(profile, by);
        let (group, cursor) = (grouping.find(profile, name), selection.cursor(profile));
        Self { selection, grouping, group, cursor, found: Vec::new() }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Some(group) = self.group else { return true };
        let Self { selection, grouping, cursor, found, .. } = self;
        cursor.advance(limit, |track, id| {
            let parts = grouping.parts_in(profile, track, id, group);
            if !parts.is_empty()
                && let Some(dur) = selection.counted_ns(profile, id)
            {
                found.push((id, Part::sum_ns(parts, dur)));
            }
        })
    }

    /// The slices found, each with the part of its duration that counts for the group, in ns.
    pub fn finish(self, profile: &Profile, order: MemberOrder) -> Vec<(SliceId, i64)> {
        let mut found = self.found;
        let start = |id| profile.slices().start(id);
        match order {
            MemberOrder::Time => found.order_by_key(|&(id, _)| (start(id), id)),
            MemberOrder::Longest => found.order_by_key(|&(id, dur)| (std::cmp::Reverse(dur), start(id), id)),
        }
        found
    }
}

/// The slices of a group, each with the part of its duration that counts, in ns.
pub fn members(
    profile: &Profile,
    selection: &Selection,
    by: GroupBy,
    name: &str,
    order: MemberOrder,
) -> Vec<(SliceId, i64)> {
    let mut pass = MemberPass::new(profile, selection.clone(), by, name);
    while !pass.advance(profile, usize::MAX) {}
    pass.finish(profile, order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::{Diagnostics, Interval, TraceNs};
    use ns_profile::ProfileBuilder;

    #[test]
    fn members_by_time_over_all_threads_or_by_length() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (t, u) = (b.thread(p, "1", ""), b.thread(p, "2", ""));
        b.slice(t, 50, 10, "mm", "k", None);
        b.slice(u, 20, 30, "mm", "k", None);
        b.slice(u, 60, 5, "add", "k", None);
        let profile = b.finish(Diagnostics::new());
        let find = |selection: &Selection, by, name, order| {
            let found = members(&profile, selection, by, name, order);
            found.iter().map(|(id, dur)| (id.0, *dur)).collect::<Vec<_>>()
        };
        let all = Selection::default();
        assert_eq!(find(&all, GroupBy::Name, "mm", MemberOrder::Time), [(1, 30), (0, 10)]);
        assert_eq!(find(&all, GroupBy::Category, "k", MemberOrder::Longest), [(1, 30), (0, 10), (2, 5)]);
        assert_eq!(find(&all, GroupBy::Name, "none", MemberOrder::Time), []);
        // The profile starts at the first event, at 20 ns.
        let within = Some(Interval::new(TraceNs(25), TraceNs(35)));
        let span = Selection { within, ..all };
        assert_eq!(find(&span, GroupBy::Name, "mm", MemberOrder::Longest), [(1, 5), (0, 5)]);
    }
}
