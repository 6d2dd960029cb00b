//! Times in which nothing ran: the slices of the rows that keep a device or thread busy, by time, and the gaps between
//! them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::SliceCursor;
use crate::grouping::{device_text, thread_text};
use crate::work::{Work, Works};
use ns_base::{FxHashMap, IndexVec, Interval, TraceNs};
use ns_profile::device::{DEVICE_PROCESS, is_dma};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// A gap between two slices, not yet explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub group: usize,
    pub span: Interval<TraceNs>,
    pub before: SliceId,
    pub after: SliceId,
}

impl Gap {
    pub fn length_ns(&self) -> i64 {
        self.span.end.0 - self.span.start.0
    }
}

/// Tracks whose slices together keep a device or thread busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowGroup {
    pub label: String,
    pub tracks: Vec<TrackId>,
}

/// Scans every slice for the tracks that do the work of devices.
#[derive(Debug)]
pub(super) struct DeviceScan {
    cursor: SliceCursor,
    has_work: IndexVec<TrackId, bool>,
}

impl DeviceScan {
    pub fn new(profile: &Profile) -> Self {
        Self { cursor: SliceCursor::of_all(profile), has_work: profile.tracks().ids().map(|_| false).collect() }
    }

    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Looks at about `limit` slices more. Returns whether it has seen enough.
    pub fn advance(&mut self, profile: &Profile, works: &Works, limit: usize) -> bool {
        let Self { cursor, has_work } = self;
        works.family() == Family::Other
            || cursor.advance(limit, |track, id| {
                if let Some(has_work) = has_work.get_mut(track) {
                    *has_work |= works.of_slice(profile, track, id).is_some_and(Work::is_device);
                }
            })
    }

    /// Devices of the profile with the tracks that do their work; threads where no devices are known.
    pub fn groups(&self, profile: &Profile, works: &Works) -> Vec<RowGroup> {
        let mut groups: Vec<RowGroup> = Vec::new();
        let mut place_of: FxHashMap<String, usize> = FxHashMap::default();
        for track in profile.tracks().ids().filter(|t| !profile.slices().range_of(*t).is_empty()) {
            let label = if works.family() == Family::Other {
                thread_text(profile, track)
            } else if self.has_work.get(track).copied().unwrap_or(false) {
                group_text(profile, track)
            } else {
                continue;
            };
            let place = *place_of.entry(label.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.tracks.push(track),
                None => groups.push(RowGroup { label, tracks: vec![track] }),
            }
        }
        groups
    }
}

/// The device that a track belongs to: queues of DMA engines have a process of their own.
fn group_text(profile: &Profile, track: TrackId) -> String {
    if is_dma(profile, track) {
        DEVICE_PROCESS.to_owned()
    } else {
        device_text(profile, profile.tracks()[track].process)
    }
}

/// Walks over the slices of some tracks together, by start, and finds the stretches in which none runs.
#[derive(Debug, Default)]
pub(super) struct GapWalk {
    group: usize,
    /// The next slice of each track, and the position after the last one there.
    heads: BinaryHeap<Reverse<(TraceNs, SliceId, usize)>>,
    /// The slice that ends last so far, and its end.
    last: Option<(TraceNs, SliceId)>,
}

impl GapWalk {
    /// The walk before the first slice of a group.
    pub fn new(profile: &Profile, group: usize, tracks: &[TrackId]) -> Self {
        let ranges = tracks.iter().map(|t| profile.slices().range_of(*t));
        let heads = ranges.filter_map(|r| head(profile, r.start, r.end)).collect();
        Self { group, heads, last: None }
    }

    /// Looks at up to `limit` slices more and passes the gaps to `found`. Returns how many it looked at: fewer than
    /// `limit` at the end.
    pub fn advance(&mut self, profile: &Profile, works: &Works, limit: usize, mut found: impl FnMut(Gap)) -> usize {
        let slices = profile.slices();
        for seen in 0..limit {
            let Some(Reverse((start, id, end_of_track))) = self.heads.pop() else { return seen };
            self.heads.extend(head(profile, id.0 as usize + 1, end_of_track));
            if !counts(profile, works, id) {
                continue;
            }
            if let Some((until, before)) = self.last
                && start > until
            {
                found(Gap { group: self.group, span: Interval::new(until, start), before, after: id });
            }
            let end = slices.end(id);
            if self.last.is_none_or(|(until, _)| end > until) {
                self.last = Some((end, id));
            }
        }
        limit
    }
}

fn head(profile: &Profile, at: usize, end: usize) -> Option<Reverse<(TraceNs, SliceId, usize)>> {
    let id = SliceId(u32::try_from(at).ok()?);
    (at < end).then(|| Reverse((profile.slices().start(id), id, end)))
}

/// Whether a slice keeps its row group busy.
fn counts(profile: &Profile, works: &Works, id: SliceId) -> bool {
    let slices = profile.slices();
    if slices.flags(id).has(SliceFlags::UNCLOSED) {
        return false;
    }
    let work = || works.of_slice(profile, slices.track(id), id);
    works.family() == Family::Other || work().is_some_and(Work::is_device)
}
