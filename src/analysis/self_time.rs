//! Self time: at each instant of a thread the time belongs to the slice that began last.
//!
//! Of slices that begin together the shorter is inside; in a tie the later in the file. For slices that nest, self
//! time is the duration without the slices inside. A slice that outlasts the slice it began in keeps all its time, and
//! the outer slice has only the rest. The self times of a thread therefore always add up to its busy time.
//!
//! A thread is a track with its overflow lanes ([`Threads`]). Only selected slices reduce one another's self time.

use std::cmp::Reverse;
use std::ops::Range;

use super::{Selection, Threads};
use ns_base::{Idx, Interval, Order as _, Sweep, TraceNs};
use ns_profile::flows::{first_starting, running_at};
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// Self time of every slice, in ns, by position. Unclosed slices have none and take none from others.
pub fn self_times(profile: &Profile) -> Vec<i64> {
    Selection::of_tracks(profile.tracks().ids().collect()).self_times(profile)
}

fn ns_of(time: Interval<TraceNs>) -> Interval<i64> {
    Interval::new(time.start.0, time.end.0)
}

/// The slices of a thread by start, outer ones first.
#[derive(Debug)]
pub(super) enum Order {
    /// The slices of one track, as they are stored.
    Track(Range<usize>),
    /// The slices of several lanes.
    Merged(std::vec::IntoIter<SliceId>),
}

impl Order {
    pub fn of(profile: &Profile, lanes: &[TrackId]) -> Self {
        let slices = profile.slices();
        if let [track] = lanes {
            return Self::Track(slices.range_of(*track));
        }
        let mut ids: Vec<SliceId> = lanes.iter().flat_map(|t| slices.of_track(*t)).collect();
        ids.order_by_key(|id| (slices.start(*id), Reverse(slices.end(*id)), *id));
        Self::Merged(ids.into_iter())
    }
}

impl Iterator for Order {
    type Item = SliceId;

    fn next(&mut self) -> Option<SliceId> {
        match self {
            Self::Track(range) => range.next().map(SliceId::from_usize),
            Self::Merged(ids) => ids.next(),
        }
    }
}

/// Computes the self times of a selection a part at a time.
#[derive(Debug)]
pub struct SelfTimes {
    selection: Selection,
    own: Vec<i64>,
    /// Lanes of the remaining threads, the next at the end.
    threads: Vec<Vec<TrackId>>,
    current: Option<(Order, Sweep<SliceId>)>,
    left: u64,
}

impl SelfTimes {
    /// Prepares it.
    #[must_use]
    pub fn new(profile: &Profile, selection: Selection) -> Self {
        let tracks = selection.tracks_of(profile);
        let left = tracks.iter().map(|t| profile.slices().range_of(*t).len() as u64).sum();
        let mut threads = Threads::of(profile).lanes(&tracks);
        threads.reverse();
        Self { selection, own: vec![0; profile.slices().len()], threads, current: None, left }
    }

    /// Looks at up to `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { selection, own, threads, current, left } = self;
        let mut give = |id: SliceId, time: Interval<i64>| own[id.index()] += time.end - time.start;
        let mut seen = 0;
        while seen < limit {
            let Some((order, sweep)) = current else {
                let Some(lanes) = threads.pop() else { return true };
                *current = Some((Order::of(profile, &lanes), Sweep::default()));
                continue;
            };
            let Some(id) = order.next() else {
                sweep.give_until(i64::MAX, &mut give);
                *current = None;
                continue;
            };
            if let Some(part) = selection.counted_part(profile, id) {
                sweep.begin(id, ns_of(part), &mut give);
            }
            seen += 1;
            *left = left.saturating_sub(1);
        }
        current.is_none() && threads.is_empty()
    }

    /// Number of slices not looked at yet.
    pub fn remaining(&self) -> u64 {
        self.left
    }

    /// The times by position, in ns; 0 for slices that are not selected.
    pub fn finish(self) -> Vec<i64> {
        self.own
    }
}

/// The slices of a track that share an instant with a span, by start, outer ones first. The cost is the number of slices
/// in the span plus the depth of the stack at its start.
pub(super) fn slices_in(profile: &Profile, track: TrackId, span: Interval<TraceNs>) -> Vec<SliceId> {
    let slices = profile.slices();
    let mut found: Vec<SliceId> =
        std::iter::successors(running_at(profile, track, span.start), |id| slices.stack_parent(*id)).collect();
    found.reverse();
    found.retain(|id| slices.start(*id) < span.start && slices.end(*id) > span.start);
    let starting = first_starting(profile, track, span.start)..first_starting(profile, track, span.end);
    found.extend(starting.map(SliceId::from_usize));
    found
}

/// Calls `give` with each slice of a thread and the stretches in which it has the self time, in order of time.
pub(super) fn self_stretches(profile: &Profile, lanes: &[TrackId], mut give: impl FnMut(SliceId, Interval<TraceNs>)) {
    let mut give = |id, time: Interval<i64>| give(id, Interval::new(TraceNs(time.start), TraceNs(time.end)));
    let mut sweep = Sweep::default();
    for id in Order::of(profile, lanes).filter(|id| !profile.slices().flags(*id).has(SliceFlags::UNCLOSED)) {
        sweep.begin(id, ns_of(profile.slices().interval(id)), &mut give);
    }
    sweep.finish(&mut give);
}

/// Self time of one slice among the slices of its level ([`ns_profile::levels`]), in ns; `None` if it never ended. The cost
/// is the number of slices of its thread that begin before it ends.
pub fn self_time_of(profile: &Profile, id: SliceId) -> Option<i64> {
    let slices = profile.slices();
    if slices.flags(id).has(SliceFlags::UNCLOSED) {
        return None;
    }
    let track = slices.track(id);
    let (start, end) = (slices.start(id), slices.end(id));
    let rank = |id: SliceId| (slices.start(id), Reverse(slices.end(id)), id);
    let level = |track, id| profile.levels().of_slice(profile, track, id);
    let own_level = level(track, id);
    let lanes = Threads::of(profile).lanes_with(profile, track);
    let inside = lanes.into_iter().flat_map(|lane| {
        let range = first_starting(profile, lane, start)..first_starting(profile, lane, end);
        let takes = move |other: &SliceId| {
            rank(*other) > rank(id)
                && !slices.flags(*other).has(SliceFlags::UNCLOSED)
                && level(lane, *other) == own_level
        };
        range.map(SliceId::from_usize).filter(takes).map(|other| slices.interval(other))
    });
    let clipped = inside.map(|s| Interval::new(s.start, s.end.min(end))).collect();
    let taken: i64 = Interval::merge(clipped).iter().map(|s| s.end.0 - s.start.0).sum();
    Some(slices.dur_ns(id) - taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    /// Random slices on lanes of one row and on another thread.
    fn profile(slices: &[(u8, i64, i64)]) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let tracks = [b.thread(p, "q", "queue"), b.thread(p, "q.2", "queue"), b.thread(p, "9", "other")];
        for (i, &(track, start, dur)) in slices.iter().enumerate() {
            b.slice(tracks[usize::from(track) % 3], start, dur, &format!("s{i}"), "", None);
        }
        b.finish(Diagnostics::new())
    }

    fn by_name(profile: &Profile, own: &[i64]) -> Vec<(String, i64)> {
        let name = |id: SliceId| profile.str(profile.slices().name(id)).to_owned();
        let mut named: Vec<_> = profile.slices().ids().map(|id| (name(id), own[id.index()])).collect();
        named.sort();
        named
    }

    /// Self time by its definition, nanosecond by nanosecond.
    fn by_definition(profile: &Profile, lanes: &[TrackId], span: Interval<TraceNs>) -> Vec<i64> {
        let slices = profile.slices();
        let mut own = vec![0; slices.len()];
        let ids = || lanes.iter().flat_map(|t| slices.of_track(*t));
        for now in span.start.0..span.end.0 {
            let running = ids().filter(|id| slices.interval(*id).contains(TraceNs(now)));
            let last = running.max_by_key(|id| (slices.start(*id), Reverse(slices.end(*id)), *id));
            if let Some(id) = last {
                own[id.index()] += 1;
            }
        }
        own
    }

    #[test]
    fn a_slice_that_outlasts_the_one_it_began_in_keeps_its_time() {
        let own = |slices: &[(u8, i64, i64)]| {
            let profile = profile(slices);
            by_name(&profile, &self_times(&profile)).into_iter().map(|(_, ns)| ns).collect::<Vec<_>>()
        };
        // The caller has the part before the call that outlasts it.
        assert_eq!(own(&[(0, 0, 100), (0, 10, 200)]), [10, 200]);
        // A child of a call that was moved to another lane does not count as time of the caller.
        assert_eq!(own(&[(0, 0, 100), (0, 10, 20), (0, 15, 60), (0, 20, 5)]), [35, 5, 55, 5]);
        // Of equal spans, the later one has the time; of equal starts, the shorter one is inside.
        assert_eq!(own(&[(0, 0, 10), (0, 0, 10), (0, 0, 4)]), [0, 6, 4]);
        // Lanes are one thread, another track is not.
        assert_eq!(own(&[(0, 0, 100), (1, 50, 100), (2, 0, 30)]), [50, 100, 30]);
    }

    proptest! {
        #[test]
        fn the_self_times_of_a_thread_are_those_of_the_definition_and_add_up_to_its_busy_time(
            slices in prop::collection::vec((0u8..3, 0i64..120, 0i64..60), 1..40), from in 0i64..120, len in 1i64..120,
            limit in 1usize..7,
        ) {
            let profile = profile(&slices);
            let all: Vec<TrackId> = profile.tracks().ids().collect();
            let span = Interval::new(TraceNs(from), TraceNs(from + len));
            let whole = Interval::new(TraceNs(0), TraceNs(200));
            for (within, checked) in [(None, whole), (Some(span), span)] {
                let selection = Selection { within, ..Selection::default() };
                let mut times = SelfTimes::new(&profile, selection);
                while !times.advance(&profile, limit) {}
                let own = times.finish();
                let mut expected = vec![0; own.len()];
                for lanes in Threads::of(&profile).lanes(&all) {
                    let of_thread = by_definition(&profile, &lanes, checked);
                    let spans = lanes.iter().flat_map(|t| profile.slices().of_track(*t));
                    let clip = |s: Interval<TraceNs>| {
                        Interval::new(s.start.max(checked.start), s.end.min(checked.end))
                    };
                    let busy = Interval::merge(spans.map(|id| clip(profile.slices().interval(id))).collect());
                    prop_assert_eq!(of_thread.iter().sum::<i64>(), busy.iter().map(|s| s.end.0 - s.start.0).sum::<i64>());
                    expected.iter_mut().zip(of_thread).for_each(|(all, ns)| *all += ns);
                }
                prop_assert_eq!(own, expected);
            }
        }

        #[test]
        fn the_self_time_of_one_slice_is_that_of_all_and_a_span_has_its_slices(
            slices in prop::collection::vec((0i64..120, 0i64..60), 1..40), from in 0i64..120, len in 1i64..120,
        ) {
            let slices: Vec<_> = slices.into_iter().map(|(start, dur)| (2, start, dur)).collect();
            let profile = profile(&slices);
            let own = self_times(&profile);
            for id in profile.slices().ids() {
                prop_assert_eq!(self_time_of(&profile, id), Some(own[id.index()]));
            }
            let span = Interval::new(TraceNs(from), TraceNs(from + len));
            let touching = |id: &SliceId| profile.slices().interval(*id).overlaps(&span);
            let found: Vec<SliceId> = slices_in(&profile, TrackId(2), span).into_iter().filter(touching).collect();
            let expected: Vec<SliceId> = profile.slices().of_track(TrackId(2)).filter(touching).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
