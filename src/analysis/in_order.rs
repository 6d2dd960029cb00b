//! The slices of one thread in the order of time: a flame graph whose axis is time.
//!
//! If a thread has more slices than can be shown, the longest are kept. A slice is never shorter than a slice inside it,
//! so all slices around a kept slice are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Selection, SliceCursor};
use ns_base::Order;
use ns_profile::{Profile, SliceId, TrackId};

/// The longest slices of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// The thread; absent when the selection holds no slice.
    pub track: Option<TrackId>,
    /// Slices by start, outer ones before inner ones.
    pub slices: Vec<SliceId>,
    /// Number of shorter slices that are left out.
    pub omitted: u64,
}

/// Finds them, a part at a time.
#[derive(Debug)]
pub struct InOrderPass {
    selection: Selection,
    track: Option<TrackId>,
    cursor: SliceCursor,
    limit: usize,
    /// The kept slices, the shortest on top; in a tie the latest.
    kept: BinaryHeap<Reverse<(i64, Reverse<SliceId>)>>,
    seen: u64,
}

impl InOrderPass {
    /// Prepares the pass: at most `limit` slices of the thread with the most selected slices, the first of equal threads.
    #[must_use]
    pub fn new(profile: &Profile, mut selection: Selection, limit: usize) -> Self {
        let tracks = selection.tracks_of(profile).into_iter();
        let counts = |id: &SliceId| selection.counted_part(profile, *id).is_some();
        let size = |t: &TrackId| {
            let all = profile.slices().of_track(*t);
            // With a level, only the slices of that level count for a thread.
            (if selection.level.is_some() { all.filter(counts).count() } else { all.len() }, Reverse(*t))
        };
        let track = tracks.filter(|t| size(t).0 > 0).max_by_key(size);
        selection.tracks = Some(track.into_iter().collect());
        let cursor = selection.cursor(profile);
        Self { selection, track, cursor, limit: limit.max(1), kept: BinaryHeap::new(), seen: 0 }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { selection, cursor, kept, seen, .. } = self;
        let most = self.limit;
        cursor.advance(limit, |_, id| {
            if selection.counted_ns(profile, id).is_none() {
                return;
            }
            *seen += 1;
            kept.push(Reverse((profile.slices().dur_ns(id), Reverse(id))));
            if kept.len() > most {
                kept.pop();
            }
        })
    }

    /// The slices found.
    pub fn finish(self, profile: &Profile) -> InOrder {
        let omitted = self.seen - self.kept.len() as u64;
        let mut slices: Vec<SliceId> = self.kept.into_iter().map(|Reverse((_, Reverse(id)))| id).collect();
        slices.order_by_key(|id| (profile.slices().start(*id), profile.slices().depth(*id), *id));
        InOrder { track: self.track, slices, omitted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::tests::nested;
    use ns_base::{Diagnostics, Interval, TraceNs};
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    fn in_order(profile: &Profile, selection: Selection, limit: usize) -> InOrder {
        let mut pass = InOrderPass::new(profile, selection, limit);
        while !pass.advance(profile, 2) {}
        pass.finish(profile)
    }

    fn names(profile: &Profile, found: &InOrder) -> Vec<String> {
        found.slices.iter().map(|id| profile.str(profile.slices().name(*id)).to_owned()).collect()
    }

    #[test]
    fn the_thread_with_the_most_slices_by_time() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let (quiet, busy) = (b.thread(p, "1", "quiet"), b.thread(p, "2", "busy"));
        b.slice(quiet, 0, 900, "long", "", None);
        for (start, dur, name) in [(0, 100, "a"), (10, 40, "b"), (60, 40, "c"), (61, 3, "d"), (200, 50, "e")] {
            b.slice(busy, start, dur, name, "", None);
        }
        let profile = b.finish(Diagnostics::new());
        let all = in_order(&profile, Selection::default(), 100);
        assert_eq!((all.track, all.omitted), (Some(busy), 0));
        assert_eq!(names(&profile, &all), ["a", "b", "c", "d", "e"]);
        // The longest stay; of b and c, equally long, the first.
        let few = in_order(&profile, Selection::default(), 3);
        assert_eq!((names(&profile, &few), few.omitted), (vec!["a".to_owned(), "b".to_owned(), "e".to_owned()], 2));
        let part = Selection::within(Some(Interval::new(TraceNs(150), TraceNs(300))));
        assert_eq!(names(&profile, &in_order(&profile, part, 100)), ["e"]);
        let other = in_order(&profile, Selection::of_tracks(vec![quiet]), 100);
        assert_eq!((other.track, names(&profile, &other)), (Some(quiet), vec!["long".to_owned()]));
        assert_eq!(in_order(&profile, Selection::of_tracks(vec![]), 100).track, None);
    }

    proptest! {
        #[test]
        fn a_selected_slice_comes_with_its_parents(steps in prop::collection::vec(any::<(u8, u8)>(), 1..200), limit in 1usize..40) {
            let profile = nested(&steps);
            let found = in_order(&profile, Selection::default(), limit);
            let track = found.track.unwrap();
            prop_assert_eq!(found.slices.len() as u64 + found.omitted, profile.slices().range_of(track).len() as u64);
            let longest_left_out = profile.slices().of_track(track).filter(|id| !found.slices.contains(id));
            let longest_left_out = longest_left_out.map(|id| profile.slices().dur_ns(id)).max().unwrap_or(0);
            for id in &found.slices {
                prop_assert!(profile.slices().dur_ns(*id) >= longest_left_out);
                // Of two equally long slices where one contains the other, the outer one comes first in the profile.
                let parent = profile.slices().enclosing(*id);
                prop_assert!(parent.is_none_or(|p| found.slices.contains(&p)));
            }
        }
    }
}
