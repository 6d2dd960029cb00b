//! Where tracks stand still between their slices, and what ended just before they went on.

use super::flows::FlowIndex;
use super::{Profile, SliceFlags, SliceId, TrackId};
use crate::base::{Interval, TraceNs};

/// A stretch of a track without any slice, between two slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The track.
    pub track: TrackId,
    /// From the end of the last slice to the start of the next.
    pub time: Interval<TraceNs>,
    /// The slice after it.
    pub next: SliceId,
    /// What the next slice came from by a flow arrow, or else the slice of another track that ended last in the gap.
    pub waited_for: Option<SliceId>,
    /// Whether an arrow says so; otherwise it only ended at the right time.
    pub is_certain: bool,
}

/// The longest gaps of all tracks, longest first, equal ones by time.
#[must_use]
pub fn idle_gaps(profile: &Profile, flows: &FlowIndex, limit: usize) -> Vec<Gap> {
    let slices = profile.slices();
    let mut gaps = Vec::new();
    for track in profile.tracks().ids() {
        let mut until: Option<TraceNs> = None;
        for id in slices.of_track(track).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED)) {
            let start = slices.start(id);
            if let Some(end) = until.filter(|end| *end < start) {
                let time = Interval::new(end, start);
                gaps.push(Gap { track, time, next: id, waited_for: None, is_certain: false });
            }
            until = Some(until.map_or(slices.end(id), |u| u.max(slices.end(id))));
        }
    }
    gaps.sort_by_key(|g| (g.time.start.0 - g.time.end.0, g.time.start, g.track));
    gaps.truncate(limit);
    let ended = EndedLast::new(profile);
    for gap in &mut gaps {
        let by_flow = flows.predecessors(gap.next).max_by_key(|id| slices.end(*id));
        gap.is_certain = by_flow.is_some();
        gap.waited_for = by_flow.or_else(|| ended.before(profile, gap.time, gap.track));
    }
    gaps
}

/// Outermost slices by their end.
pub struct EndedLast(Vec<(TraceNs, SliceId)>);

impl EndedLast {
    /// Those of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let slices = profile.slices();
        let counted = |id: &SliceId| {
            slices.depth(*id) == 0 && slices.dur_ns(*id) > 0 && !slices.flags(*id).has(SliceFlags::UNCLOSED)
        };
        let mut ends: Vec<_> = slices.ids().filter(counted).map(|id| (slices.end(id), id)).collect();
        ends.sort_unstable();
        Self(ends)
    }

    /// The slice of another track than `but` that ended last within a span, its end included.
    #[must_use]
    pub fn before(&self, profile: &Profile, within: Interval<TraceNs>, but: TrackId) -> Option<SliceId> {
        let after = self.0.partition_point(|(end, _)| *end <= within.end);
        let inside = self.0[..after].iter().rev().take_while(|(end, _)| *end > within.start);
        inside.map(|(_, id)| *id).find(|id| profile.slices().track(*id) != but)
    }

    /// The slice that ended last at a time or before.
    #[must_use]
    pub fn at(&self, time: TraceNs) -> Option<SliceId> {
        let after = self.0.partition_point(|(end, _)| *end <= time);
        after.checked_sub(1).map(|i| self.0[i].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    #[test]
    fn gaps_are_ranked_and_say_what_ended_in_them() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (gpu, cpu) = (b.thread(p, "1", "gpu"), b.thread(p, "2", "cpu"));
        b.slice(gpu, 0, 10, "k1", "", None);
        b.slice(gpu, 2, 3, "nested", "", None);
        b.slice(gpu, 40, 10, "k2", "", None);
        b.slice(gpu, 52, 10, "k3", "", None);
        b.slice(cpu, 15, 20, "load data", "", None);
        let profile = b.finish(Diagnostics::new());
        let gaps = idle_gaps(&profile, &FlowIndex::default(), 10);
        let name = |id: SliceId| profile.str(profile.slices().name(id));
        let brief: Vec<_> = gaps.iter().map(|g| (g.time.start.0, g.time.end.0, g.waited_for.map(name))).collect();
        assert_eq!(brief, [(10, 40, Some("load data")), (50, 52, None)]);
        assert!(!gaps[0].is_certain);
        assert_eq!(idle_gaps(&profile, &FlowIndex::default(), 1).len(), 1);
    }
}
