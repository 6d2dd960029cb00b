//! Level of detail for instant events: at most two marks per pixel and track, found by binary search.

use super::lod::bucket_for;
use super::{InstantId, Profile, TrackId};
use ns_base::convert::usize_to_u32;
use ns_base::{Idx, Interval, Order, TraceNs};

/// One thing to draw: an instant event, or several that fall into one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Time of the first.
    pub ts: TraceNs,
    /// The first.
    pub instant: InstantId,
    /// Number of instant events.
    pub count: u32,
}

/// The instant events of a profile by track.
#[derive(Debug, Default)]
pub struct MarkIndex {
    ids: Vec<InstantId>,
    /// Position of the first of each track, and one more entry: their number.
    first_of_track: Vec<u32>,
}

impl MarkIndex {
    /// Sorts the instant events of a profile by track.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let instants = profile.instants();
        let mut ids: Vec<_> = instants.ids().collect();
        // Stable: within a track they stay ordered by time.
        ids.order_by_key(|&id| instants.track(id));
        let first = |track: usize| usize_to_u32(ids.partition_point(|&id| instants.track(id).index() < track));
        let first_of_track = (0..=profile.tracks().len()).map(first).collect();
        Self { ids, first_of_track }
    }

    /// The instant events of a track, by time.
    pub fn of_track(&self, track: TrackId) -> &[InstantId] {
        let at = |i: usize| self.first_of_track.get(i).map_or(self.ids.len(), |&first| first as usize);
        self.ids.get(at(track.index())..at(track.index() + 1)).unwrap_or(&[])
    }

    /// The marks of a track between two times in `width_px` pixels, by time.
    pub fn query(&self, profile: &Profile, track: TrackId, within: Interval<TraceNs>, width_px: u32) -> Vec<Mark> {
        let mut out = Vec::new();
        if within.is_empty() || width_px == 0 {
            return out;
        }
        let bucket_log2 = bucket_for(within, width_px);
        let instants = profile.instants();
        let mut rest = self.of_track(track);
        rest = &rest[rest.partition_point(|&id| instants.ts(id) < within.start)..];
        while let Some(&first) = rest.first().filter(|&&id| instants.ts(id) < within.end) {
            let ts = instants.ts(first);
            let next = ((ts.0 >> bucket_log2) + 1) << bucket_log2;
            let count = rest.partition_point(|&id| instants.ts(id).0 < next.min(within.end.0));
            out.push(Mark { ts, instant: first, count: usize_to_u32(count) });
            rest = &rest[count..];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgsId, ProfileBuilder};
    use ns_base::{Diagnostics, StrId};

    #[test]
    fn marks_of_a_pixel_are_one_and_tracks_do_not_mix() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let tracks = [b.thread(p, "1", ""), b.thread(p, "2", ""), b.thread(p, "3", "")];
        for i in 0..1000i64 {
            let track = tracks[usize::from(i % 4 == 0)];
            b.instant(track, 999 - i, b'i', b't', StrId::EMPTY, StrId::EMPTY, ArgsId::NONE);
        }
        let profile = b.finish(Diagnostics::new());
        let index = MarkIndex::new(&profile);
        assert_eq!(tracks.map(|t| index.of_track(t).len()), [750, 250, 0]);
        let all = Interval::new(TraceNs(0), TraceNs(1000));
        let marks = index.query(&profile, tracks[0], all, 10);
        assert!(marks.len() <= 20 && marks.is_sorted_by_key(|m| m.ts));
        assert_eq!(marks.iter().map(|m| m.count).sum::<u32>(), 750);
        assert_eq!(index.query(&profile, tracks[0], all, 5000).len(), 750);
        let part = Interval::new(TraceNs(10), TraceNs(20));
        assert_eq!(index.query(&profile, tracks[1], part, 1).iter().map(|m| m.count).sum::<u32>(), 3); // 11, 15, 19
        assert!(index.query(&profile, tracks[2], all, 10).is_empty());
    }
}
