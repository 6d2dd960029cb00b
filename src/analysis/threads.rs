//! Which tracks are one thread: overlapping slices of a row are often written as further tracks of the same name.

use ns_base::{FxHashMap, IndexVec, StrId};
use ns_profile::{ProcessId, Profile, TrackId};

/// The thread of every track: a track with the id `T` and the tracks with the ids `T.2`, `T.3` and so on that have its name and its
/// process (the overflow lanes of the simulator's rows). Any other track is a thread by itself.
#[derive(Clone, Debug)]
pub struct Threads {
    /// The first track of the thread of each track.
    first: IndexVec<TrackId, TrackId>,
}

impl Threads {
    /// Finds the threads by the ids and names of all tracks.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let mut known: FxHashMap<(ProcessId, StrId, &str), TrackId> = FxHashMap::default();
        for (id, track) in profile.tracks().iter_enumerated() {
            known.entry((track.process, track.name, profile.str(track.tid))).or_insert(id);
        }
        let first = profile.tracks().iter_enumerated().map(|(id, track)| {
            let row = lane_of(profile.str(track.tid));
            let row = row.filter(|_| track.name != StrId::EMPTY);
            row.and_then(|tid| known.get(&(track.process, track.name, tid)).copied()).unwrap_or(id)
        });
        Self { first: first.collect() }
    }

    /// Groups some tracks by thread; threads are in the order of their first track.
    pub fn lanes(&self, tracks: &[TrackId]) -> Vec<Vec<TrackId>> {
        let mut place: FxHashMap<TrackId, usize> = FxHashMap::default();
        let mut threads: Vec<Vec<TrackId>> = Vec::new();
        for &track in tracks {
            let first = self.first.get(track).copied().unwrap_or(track);
            let at = *place.entry(first).or_insert(threads.len());
            match threads.get_mut(at) {
                Some(lanes) => lanes.push(track),
                None => threads.push(vec![track]),
            }
        }
        threads
    }

    /// All lanes of the thread of a track.
    pub fn lanes_with(&self, profile: &Profile, track: TrackId) -> Vec<TrackId> {
        let first = self.first.get(track).copied().unwrap_or(track);
        profile.tracks().ids().filter(|t| self.first.get(*t) == Some(&first)).collect()
    }
}

/// The row whose further lane an id names: `queue` for `queue.2`.
fn lane_of(tid: &str) -> Option<&str> {
    let (row, number) = tid.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    (is_number && number != "1" && !row.is_empty()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    #[test]
    fn lanes_of_a_row_are_one_thread_and_other_tracks_are_not() {
        let mut b = ProfileBuilder::new("test");
        let (p, q) = (b.process("1", "run"), b.process("2", "run"));
        let row = b.thread(p, "queue", "qSy");
        let lanes = [b.thread(p, "queue.2", "qSy"), b.thread(p, "queue.3", "qSy")];
        let others = [
            b.thread(p, "queue.1", "qSy"),
            b.thread(p, "queue.02", "qSy"),
            b.thread(p, "queue.4", "other"),
            b.thread(q, "queue.2", "qSy"),
            b.thread(p, "7", ""),
            b.thread(p, "7.2", ""),
        ];
        let profile = b.finish(Diagnostics::new());
        let threads = Threads::of(&profile);
        let all: Vec<TrackId> = profile.tracks().ids().collect();
        let mut expected = vec![vec![row, lanes[0], lanes[1]]];
        expected.extend(others.map(|t| vec![t]));
        assert_eq!(threads.lanes(&all), expected);
        assert_eq!(threads.lanes(&[lanes[1], others[0]]), [vec![lanes[1]], vec![others[0]]]);
        assert_eq!(threads.lanes_with(&profile, lanes[1]), [row, lanes[0], lanes[1]]);
    }
}
