//! One scan of every slice: collects the facts that the walk along a critical path needs beforehand.

use std::cell::RefCell;

use super::threads::CriticalThreads;
use super::walk::{Blocker, Rules};
use crate::SliceCursor;
use crate::work::Work;
use ns_base::{Idx, IndexVec, TraceNs};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceId, TrackId};

/// The facts collected by the scan so far.
#[derive(Debug)]
pub(super) struct Scan {
    cursor: SliceCursor,
    tracks: IndexVec<TrackId, TrackWork>,
    block_ends: Vec<TraceNs>,
    last: Option<(TraceNs, TraceNs, SliceId)>,
}

/// Slices whose latest end is known: those of a deep stack are searched a block at a time.
pub(super) const BLOCK: usize = 1024;

#[derive(Clone, Debug, Default)]
struct TrackWork {
    /// Ends of those of its slices that are work of a device.
    device_ends: Vec<(TraceNs, SliceId)>,
    /// Whether it has work of the host, or, in a Neuron profile, any work.
    is_host: bool,
}

/// The result of the scan.
#[derive(Debug, Default)]
pub(super) struct TraceScan {
    /// For each track with work of a device, the ends of that work, by time.
    pub devices: Vec<Vec<(TraceNs, SliceId)>>,
    /// Threads of the host, and rows whose slices wait for slices of any other row; none if no work is known.
    pub hosts: Vec<TrackId>,
    /// Their slices, once they are asked for.
    pub threads: RefCell<Option<CriticalThreads>>,
    /// The latest end of each [`BLOCK`] slices in their order.
    pub block_ends: Vec<TraceNs>,
    /// The work that ends last; any slice if no work is known.
    pub last: Option<Blocker>,
}

impl Scan {
    pub fn new(profile: &Profile) -> Self {
        let tracks = profile.tracks().ids().map(|_| TrackWork::default()).collect();
        let block_ends = vec![TraceNs(i64::MIN); profile.slices().len().div_ceil(BLOCK)];
        Self { cursor: SliceCursor::of_all(profile), tracks, block_ends, last: None }
    }

    /// Number of slices not looked at yet.
    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, rules: &Rules<'_>, limit: usize) -> bool {
        let Self { cursor, tracks, block_ends, last } = self;
        let slices = rules.profile.slices();
        let is_neuron = rules.works.family() == Family::Neuron;
        cursor.advance(limit, |track, id| {
            let work = rules.works.of_slice(rules.profile, track, id);
            if let (Some(work), Some(of_track)) = (work, tracks.get_mut(track)) {
                of_track.is_host |= work.is_host() || is_neuron && work != Work::Marker;
                if work.is_device() {
                    of_track.device_ends.push((slices.end(id), id));
                }
            }
            if let Some(latest) = block_ends.get_mut(id.index() / BLOCK) {
                *latest = (*latest).max(slices.end(id));
            }
            let (start, end) = (slices.start(id), slices.end(id).min(rules.span.end));
            if start < rules.span.end && end > rules.span.start && rules.is_counted(id, work) {
                *last = (*last).max(Some((end, start, id)));
            }
        })
    }

    pub fn finish(self) -> TraceScan {
        let hosts = self.tracks.iter_enumerated().filter(|(_, t)| t.is_host).map(|(id, _)| id).collect();
        let mut devices: Vec<_> = self.tracks.iter().map(|t| t.device_ends.clone()).filter(|e| !e.is_empty()).collect();
        // Slices of a row come by start: their ends are almost sorted, which makes a stable sort fast.
        devices.iter_mut().for_each(|ends| ends.sort());
        TraceScan {
            devices,
            hosts,
            threads: RefCell::default(),
            block_ends: self.block_ends,
            last: self.last.map(|(until, _, by)| Blocker::last(by, until)),
        }
    }
}
