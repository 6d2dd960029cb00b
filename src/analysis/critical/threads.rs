//! Which slice of any thread of the host ran at a time, or ended last before it: asked at ever earlier times, so that each slice is looked
//! at once however many threads there are.

use std::collections::BinaryHeap;

use super::walk::{MOST_LOOKED_BACK, Rules};
use ns_base::{Idx, Order, TraceNs};
use ns_profile::{SliceId, TrackId};

/// The slices of the host, and how far back the questions are.
#[derive(Debug)]
pub(super) struct CriticalThreads {
    /// Its slices that can be on a path, by end, then by start.
    ends: Vec<(TraceNs, TraceNs, SliceId)>,
    /// How many of them end before the time of the last question.
    before: usize,
    /// The others, the one that started last on top; those that start later than the last question are gone.
    running: BinaryHeap<(TraceNs, SliceId)>,
    at: TraceNs,
}

impl CriticalThreads {
    pub fn new(rules: &Rules<'_>, hosts: &[TrackId]) -> Self {
        let slices = rules.profile.slices();
        let of_track = |track: &TrackId| slices.range_of(*track).map(SliceId::from_usize);
        let all = hosts.iter().flat_map(of_track).filter(|id| rules.counts(*id));
        let mut ends: Vec<_> = all.map(|id| (slices.end(id), slices.start(id), id)).collect();
        ends.order();
        Self { before: ends.len(), ends, running: BinaryHeap::new(), at: TraceNs(i64::MAX) }
    }

    /// The slice of another track that ran until a time or ended last before, and until when it did.
    pub fn latest(&mut self, rules: &Rules<'_>, own: TrackId, at: TraceNs) -> Option<(SliceId, TraceNs)> {
        if at > self.at {
            (self.before, self.running) = (self.ends.len(), BinaryHeap::new());
        }
        self.at = at;
        while let Some((end, start, id)) = self.before.checked_sub(1).and_then(|i| self.ends.get(i)).copied()
            && end >= at
        {
            self.running.push((start, id));
            self.before -= 1;
        }
        while self.running.peek().is_some_and(|(start, _)| *start >= at) {
            self.running.pop();
        }
        let track = |id: SliceId| rules.profile.slices().track(id);
        let mut own_ones = Vec::new();
        while let Some(top) = self.running.peek().copied().filter(|(_, id)| track(*id) == own) {
            self.running.pop();
            own_ones.push(top);
        }
        let running = self.running.peek().map(|(_, id)| (*id, at));
        self.running.extend(own_ones);
        running.or_else(|| {
            let ended = self.ends[..self.before].iter().rev().take(MOST_LOOKED_BACK);
            ended.map(|(end, _, id)| (*id, *end)).find(|(id, _)| track(*id) != own)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Works;
    use ns_base::{Diagnostics, Interval, Rng};
    use ns_profile::{Profile, ProfileBuilder};

    /// Threads of calls that do not overlap, or lie within one another.
    fn profile(rng: &mut Rng) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let process = b.process("1", "python");
        for t in 0..4 {
            let thread = b.thread(process, &t.to_string(), "thread");
            let mut now = 0;
            for _ in 0..20 {
                now += i64::try_from(rng.next_u64() % 9).unwrap();
                let length = 1 + i64::try_from(rng.next_u64() % 12).unwrap();
                b.slice(thread, now, length, "call", "cpu_op", None);
                if length > 2 {
                    b.slice(thread, now + 1, length - 2, "inner", "cpu_op", None);
                }
                now += length;
            }
        }
        b.finish(Diagnostics::new())
    }

    #[test]
    fn the_latest_is_what_a_look_at_every_slice_finds() {
        for seed in 0..20 {
            let profile = profile(&mut Rng::new(seed, 0));
            let works = Works::of(&profile);
            let span = Interval::new(profile.span().start, profile.span().end);
            let rules = Rules { profile: &profile, works: &works, span, annotation: None };
            let hosts: Vec<TrackId> = profile.tracks().ids().collect();
            let mut threads = CriticalThreads::new(&rules, &hosts);
            let slices = profile.slices();
            let mut times: Vec<i64> = (1..200).rev().collect();
            times.push(150);
            for at in times {
                let own = hosts[usize::try_from(at).unwrap() % hosts.len()];
                let others =
                    || hosts.iter().filter(|t| **t != own).flat_map(|t| slices.range_of(*t)).map(SliceId::from_usize);
                let ran = others().filter(|id| slices.start(*id).0 < at && slices.end(*id).0 >= at);
                let ran = ran.max_by_key(|id| (slices.start(*id), *id)).map(|id| (slices.start(id), TraceNs(at)));
                let ended = others().filter(|id| slices.end(*id).0 < at);
                let ended = ended.max_by_key(|id| (slices.end(*id), slices.start(*id), *id));
                let expected = ran.or(ended.map(|id| (slices.start(id), slices.end(id))));
                let found = threads.latest(&rules, own, TraceNs(at)).map(|(id, until)| (slices.start(id), until));
                assert_eq!(found, expected, "at {at}, seed {seed}");
            }
        }
    }
}
