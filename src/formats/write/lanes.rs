//! The slices of a track as stacks that always nest, as most formats require.

use ns_profile::{Profile, SliceId, TrackId};

/// The most lanes that are searched for a slice before a new one is opened; bounds the work on hostile input.
const MAX_LANES_SEARCHED: usize = 1024;

/// One change of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A slice begins, in ns relative to the profile's start.
    Open(SliceId, i64),
    /// The slice opened last ends.
    Close(SliceId, i64),
}

/// The changes of each lane, in order. The first lane has all slices except those that end after the slice they began
/// in: these go to the next lane in which they nest.
pub(super) fn lanes(profile: &Profile, track: TrackId) -> Vec<Vec<Change>> {
    let slices = profile.slices();
    let mut lanes: Vec<Lane> = Vec::new();
    for id in slices.of_track(track) {
        let (start, end) = (slices.start(id).0, slices.end(id).0);
        let free = lanes.iter_mut().take(MAX_LANES_SEARCHED).position(|lane| lane.takes(start, end));
        let lane = free.unwrap_or_else(|| {
            lanes.push(Lane::default());
            lanes.len() - 1
        });
        lanes[lane].changes.push(Change::Open(id, start));
        lanes[lane].open.push((id, end));
    }
    lanes
        .into_iter()
        .map(|mut lane| {
            lane.close_until(i64::MAX);
            lane.changes
        })
        .collect()
}

#[derive(Default)]
struct Lane {
    changes: Vec<Change>,
    open: Vec<(SliceId, i64)>,
}

impl Lane {
    /// Whether a slice nests in the slices that are open when it begins.
    fn takes(&mut self, start: i64, end: i64) -> bool {
        self.close_until(start);
        self.open.last().is_none_or(|&(_, open_end)| end <= open_end)
    }

    fn close_until(&mut self, time: i64) {
        while let Some(&(id, end)) = self.open.last().filter(|(_, end)| *end <= time) {
            self.changes.push(Change::Close(id, end));
            self.open.pop();
        }
    }
}

pub(super) fn lane_name(profile: &Profile, track: TrackId, lane: usize) -> String {
    let label = profile.track_label(track);
    if lane == 0 { label } else { format!("{label} (overlapping {lane})") }
}

/// Tracks whose slices come from the file itself, by process, in the order in which they are shown.
pub(super) fn own_tracks(profile: &Profile) -> Vec<TrackId> {
    let tracks = profile.processes_in_order().into_iter().flat_map(|process| profile.tracks_in_order(process));
    tracks.filter(|&track| profile.tracks()[track].kind.is_own()).collect()
}
