//! Processes and tracks: the rows a timeline has.

use serde::{Deserialize, Serialize};

use ns_base::StrId;
use ns_base::define_idx;

define_idx! {
    /// A process of one profile.
    pub struct ProcessId;
}
define_idx! {
    /// A track (thread) of one profile.
    pub struct TrackId;
}

/// The NeuronCore that a process of a profile represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NeuronCoreId {
    /// Neuron device (chip) on the instance.
    pub device: u32,
    /// NeuronCore on the device.
    pub core: u32,
}

/// A group of tracks.
#[derive(Clone, Debug)]
pub struct Process {
    /// The process id as the file's text; empty when the events had none.
    pub pid: StrId,
    /// Its name, empty when it was never given.
    pub name: StrId,
    /// Labels, as the file gave them.
    pub labels: StrId,
    /// Its position; smaller is higher, ties in order of appearance.
    pub sort_index: i64,
    /// The NeuronCore that it represents, if known.
    pub neuron_core: Option<NeuronCoreId>,
}

/// The kind of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TrackKind {
    /// The events of one thread (one pid and tid), a stack of nested slices.
    Thread,
    /// Stacks that a profiler sampled from a thread whose events are on a separate track.
    Samples,
}

impl TrackKind {
    /// Whether its slices come from the file itself and are not made of other events that are kept too.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Thread)
    }
}

/// One row group of a process.
#[derive(Clone, Debug)]
pub struct Track {
    /// The process of the track.
    pub process: ProcessId,
    /// Its kind.
    pub kind: TrackKind,
    /// The thread id as the file's text; empty when the events had none.
    pub tid: StrId,
    /// Its name, empty when it was never given.
    pub name: StrId,
    /// Its position in its process; smaller is higher, ties in order of appearance.
    pub sort_index: i64,
    /// Number of events of the source on it, without metadata.
    pub events: u64,
}
