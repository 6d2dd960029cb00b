//! The slices that a question is about, and how much of each counts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::self_time::SelfTimes;
use ns_base::convert::usize_to_u32;
use ns_base::{Interval, TraceNs};
use ns_profile::levels::LevelId;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// The slices that a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Only the slices of these tracks; those of all threads if absent (tracks of samples are left out, because they are made
    /// of events that are kept too).
    pub tracks: Option<Vec<TrackId>>,
    /// Only this span: of slices that overlap it, or that have no duration and lie in it, the part inside
    /// counts; everything if absent.
    pub within: Option<Interval<TraceNs>>,
    /// Only the slices of this level; those of all levels if absent, which may show the same work several times.
    pub level: Option<LevelId>,
}

impl Selection {
    /// All slices in a span.
    #[must_use]
    pub fn within(span: Option<Interval<TraceNs>>) -> Self {
        Self { within: span, ..Self::default() }
    }

    /// All slices of some tracks.
    #[must_use]
    pub fn of_tracks(tracks: Vec<TrackId>) -> Self {
        Self { tracks: Some(tracks), ..Self::default() }
    }

    /// The part of a slice that counts; `None` if it is outside.
    pub fn part(&self, slice: Interval<TraceNs>) -> Option<Interval<TraceNs>> {
        let Some(span) = self.within else { return Some(slice) };
        let inside = if slice.is_empty() { span.contains(slice.start) } else { slice.overlaps(&span) };
        if !inside {
            return None;
        }
        Some(Interval::new(slice.start.max(span.start), slice.end.min(span.end)))
    }

    /// The part of a slice of a profile that counts; `None` if it is outside or never ended.
    pub fn counted_part(&self, profile: &Profile, id: SliceId) -> Option<Interval<TraceNs>> {
        let slices = profile.slices();
        if slices.flags(id).has(SliceFlags::UNCLOSED) {
            return None;
        }
        let part = self.part(slices.interval(id))?;
        let is_of_level = |level| profile.levels().of_slice(profile, slices.track(id), id) == level;
        self.level.is_none_or(is_of_level).then_some(part)
    }

    /// The length of the part of a slice that counts, in ns; `None` if it is outside or never ended.
    pub fn counted_ns(&self, profile: &Profile, id: SliceId) -> Option<i64> {
        let part = self.counted_part(profile, id)?;
        Some(part.end.0.saturating_sub(part.start.0))
    }

    /// The slices of a level.
    #[must_use]
    pub fn of_level(level: Option<LevelId>) -> Self {
        Self { level, ..Self::default() }
    }

    /// The chosen tracks, in the order of the profile, each once.
    pub fn tracks_of(&self, profile: &Profile) -> Vec<TrackId> {
        match &self.tracks {
            None => profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own()).map(|(id, _)| id).collect(),
            Some(tracks) => {
                let mut tracks: Vec<_> =
                    tracks.iter().copied().filter(|t| profile.tracks().get(*t).is_some()).collect();
                tracks.sort_unstable();
                tracks.dedup();
                tracks
            }
        }
    }

    /// Self time of every selected slice by position, in ns; 0 for others.
    pub fn self_times(&self, profile: &Profile) -> Vec<i64> {
        let mut times = SelfTimes::new(profile, self.clone());
        while !times.advance(profile, usize::MAX) {}
        times.finish()
    }

    /// The positions of the slices of the chosen tracks, to be walked over in parts.
    pub fn cursor(&self, profile: &Profile) -> SliceCursor {
        let mut ranges: Vec<_> = self.tracks_of(profile).iter().map(|&t| (t, profile.slices().range_of(t))).collect();
        ranges.retain(|(_, range)| range.start < range.end);
        ranges.reverse();
        SliceCursor { ranges }
    }
}

/// Walks over slices track by track, a bounded number at a time.
#[derive(Clone, Debug)]
pub struct SliceCursor {
    /// The remaining positions, the next at the end.
    ranges: Vec<(TrackId, Range<usize>)>,
}

impl SliceCursor {
    /// The positions of all slices, including those of samples.
    #[must_use]
    pub fn of_all(profile: &Profile) -> Self {
        let tracks = profile.tracks().ids().map(|t| (t, profile.slices().range_of(t)));
        let mut ranges: Vec<_> = tracks.filter(|(_, range)| range.start < range.end).collect();
        ranges.reverse();
        Self { ranges }
    }

    /// The next slices, at most `limit` (at least 1) and all from one track; `None` at the end.
    pub fn next_part(&mut self, limit: usize) -> Option<(TrackId, impl Iterator<Item = SliceId> + use<>)> {
        let (track, range) = self.ranges.last_mut()?;
        let (track, start) = (*track, range.start);
        let end = range.end.min(start.saturating_add(limit.max(1)));
        range.start = end;
        if range.start >= range.end {
            self.ranges.pop();
        }
        Some((track, (usize_to_u32(start)..usize_to_u32(end)).map(SliceId)))
    }

    /// Calls `visit` for at most about `limit` slices. Returns whether all were visited.
    pub fn advance(&mut self, limit: usize, mut visit: impl FnMut(TrackId, SliceId)) -> bool {
        let mut left = limit.max(1);
        while left > 0 {
            let Some((track, part)) = self.next_part(left) else { return true };
            for id in part {
                visit(track, id);
                left -= 1;
            }
        }
        self.ranges.is_empty()
    }

    /// Number of slices left.
    pub fn remaining(&self) -> u64 {
        self.ranges.iter().map(|(_, r)| r.len() as u64).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    /// A stack of nested slices from any numbers: each pair opens a slice inside the previous one, or closes that first.
    pub(in super::super) fn nested(steps: &[(u8, u8)]) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        let (mut open, mut now): (Vec<(i64, u8)>, i64) = (Vec::new(), 0);
        for &(step, name) in steps {
            now += i64::from(step % 16);
            if step >= 128
                && let Some((start, name)) = open.pop()
            {
                b.slice(t, start, now - start, &format!("n{}", name % 8), "", None);
            } else {
                open.push((now, name));
            }
        }
        while let Some((start, name)) = open.pop() {
            now += 1;
            b.slice(t, start, now - start, &format!("n{}", name % 8), "", None);
        }
        b.finish(Diagnostics::new())
    }

    pub(in super::super) fn covered_ns(profile: &Profile, span: Interval<TraceNs>) -> i64 {
        let clip = |s: Interval<TraceNs>| Interval::new(s.start.max(span.start), s.end.min(span.end));
        let all = profile.slices().ids().map(|id| clip(profile.slices().interval(id))).collect();
        Interval::merge(all).iter().map(|s| s.end.0 - s.start.0).sum()
    }

    proptest! {
        #[test]
        fn clipped_self_times_add_up_to_the_covered_time(
            steps in prop::collection::vec(any::<(u8, u8)>(), 1..200), from in 0i64..1500, len in 0i64..1500,
        ) {
            let profile = nested(&steps);
            let span = Interval::new(TraceNs(from), TraceNs(from + len));
            let clip = Selection::within(Some(span));
            prop_assert_eq!(clip.self_times(&profile).iter().sum::<i64>(), covered_ns(&profile, span));
            let all = Interval::new(TraceNs(0), TraceNs(i64::MAX));
            prop_assert_eq!(Selection::default().self_times(&profile).iter().sum::<i64>(), covered_ns(&profile, all));
        }

        #[test]
        fn a_cursor_visits_each_slice_once_however_it_is_cut(
            steps in prop::collection::vec(any::<(u8, u8)>(), 0..60), limit in 0usize..9,
        ) {
            let profile = nested(&steps);
            let (mut cursor, mut seen) = (Selection::default().cursor(&profile), Vec::new());
            while !cursor.advance(limit, |_, id| seen.push(id)) {}
            prop_assert_eq!(seen, profile.slices().ids().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_slice_that_only_touches_is_outside_and_a_moment_is_inside() {
        let span = Some(Interval::new(TraceNs(10), TraceNs(20)));
        let part = |start, end| {
            let part = Selection::within(span).part(Interval::new(TraceNs(start), TraceNs(end)));
            part.map(|p| (p.start.0, p.end.0))
        };
        assert_eq!(part(0, 10), None);
        assert_eq!(part(20, 25), None);
        assert_eq!(part(5, 15), Some((10, 15)));
        assert_eq!(part(10, 10), Some((10, 10)));
        assert_eq!(part(20, 20), None);
    }
}
