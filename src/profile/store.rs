//! The profile itself: its tables, and facts about it as a whole.

use super::fused::Fusions;
use super::levels::Levels;
use super::plugin_run::PluginRun;
use super::{
    ArgsArena, ArgsId, CounterTable, InstantTable, LinkTable, PhaseCounts, Process, ProcessId, SliceTable, Track,
    TrackId, Unit,
};
use ns_base::{Diagnostics, IndexVec, Interval, Order, StrId, StringTable, TraceNs};

/// Facts about a profile as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileMeta {
    /// Its title: a file name, or the name of the simulated model.
    pub title: String,
    /// The format it was read from, as `open --json` names it; `simulated` for profiles of the simulator.
    pub format: String,
    /// The time that was subtracted from every event, in ns of the source's clock.
    pub origin_ns: i64,
    /// From the first event to the end of the last, relative to the origin; starts at 0 unless there are no events.
    pub span: Interval<TraceNs>,
    /// Number of events in the source, including broken ones.
    pub events: u64,
    /// Events of the source by phase.
    pub by_phase: PhaseCounts,
    /// The unit of the numbers along the axis.
    pub unit: Unit,
    /// Properties of the whole file, as raw JSON by key, in the order of the file.
    pub properties: Vec<(String, String)>,
}

/// A metadata event with an unknown name, kept as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataRow {
    /// The process that it describes.
    pub process: ProcessId,
    /// The tid it had, empty when it had none.
    pub tid: StrId,
    /// Its name.
    pub name: StrId,
    /// The value.
    pub args: ArgsId,
}

/// The data of a profile. Made by [`super::ProfileBuilder`]; its events never change afterwards. Readers that join
/// several files change only the public fields: the title, the diagnostics, the tables of a plugin run.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Facts about it as a whole.
    pub meta: ProfileMeta,
    pub(super) strings: StringTable,
    pub(super) processes: IndexVec<ProcessId, Process>,
    pub(super) tracks: IndexVec<TrackId, Track>,
    pub(super) slices: SliceTable,
    pub(super) instants: InstantTable,
    pub(super) links: LinkTable,
    pub(super) counters: CounterTable,
    pub(super) metadata: Vec<MetadataRow>,
    pub(super) args: ArgsArena,
    /// What the reader could not use.
    pub diagnostics: Diagnostics,
    pub(super) levels: Levels,
    pub(super) fusions: Fusions,
    /// Boxed, because few profiles have one.
    pub plugin_run: Option<Box<PluginRun>>,
}

impl Profile {
    /// Facts about it as a whole.
    pub fn meta(&self) -> &ProfileMeta {
        &self.meta
    }

    /// From the first event to the end of the last.
    pub fn span(&self) -> Interval<TraceNs> {
        self.meta.span
    }

    /// Length of [`Self::span`] in ns.
    pub fn span_ns(&self) -> i64 {
        self.meta.span.end.0.saturating_sub(self.meta.span.start.0)
    }

    /// All names and categories.
    pub fn strings(&self) -> &StringTable {
        &self.strings
    }

    /// The text of an id.
    pub fn str(&self, id: StrId) -> &str {
        self.strings.get(id)
    }

    /// Processes, in order of appearance.
    pub fn processes(&self) -> &IndexVec<ProcessId, Process> {
        &self.processes
    }

    /// Tracks, in order of appearance.
    pub fn tracks(&self) -> &IndexVec<TrackId, Track> {
        &self.tracks
    }

    /// Slices.
    pub fn slices(&self) -> &SliceTable {
        &self.slices
    }

    /// Number of slices that come from the file itself and are not made of other events that are kept too.
    pub fn own_slice_count(&self) -> u64 {
        let own = self.tracks.iter_enumerated().filter(|(_, t)| t.kind.is_own());
        own.map(|(id, _)| self.slices.range_of(id).len() as u64).sum()
    }

    /// Instant events.
    pub fn instants(&self) -> &InstantTable {
        &self.instants
    }

    /// Flows, async events and objects, as the file had them.
    pub fn links(&self) -> &LinkTable {
        &self.links
    }

    /// Counters.
    pub fn counters(&self) -> &CounterTable {
        &self.counters
    }

    /// Metadata with unknown names.
    pub fn metadata(&self) -> &[MetadataRow] {
        &self.metadata
    }

    /// Arguments of events.
    pub fn args(&self) -> &ArgsArena {
        &self.args
    }

    /// The levels of its slices.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Its fused operations.
    pub fn fusions(&self) -> &Fusions {
        &self.fusions
    }

    /// Problems in the input that did not stop the reader.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Contents of a run directory of TensorBoard's Neuron plugin in addition to the timeline; absent for every other source.
    pub fn plugin_run(&self) -> Option<&PluginRun> {
        self.plugin_run.as_deref()
    }

    /// The name that the user sees: the name of the process, or its pid.
    pub fn process_label(&self, id: ProcessId) -> String {
        let Some(process) = self.processes.get(id) else { return String::new() };
        match (self.str(process.name), self.str(process.pid)) {
            ("", "") => "(no process id)".to_owned(),
            ("", pid) => format!("Process {pid}"),
            (name, _) => name.to_owned(),
        }
    }

    /// The name that the user sees: the name of the track, or its tid.
    pub fn track_label(&self, id: TrackId) -> String {
        let Some(track) = self.tracks.get(id) else { return String::new() };
        match (self.str(track.name), self.str(track.tid)) {
            ("", "") => "(no thread id)".to_owned(),
            ("", tid) => format!("Thread {tid}"),
            (name, _) => name.to_owned(),
        }
    }

    /// Processes in the order they are shown: by sort index, then in order of appearance.
    pub fn processes_in_order(&self) -> Vec<ProcessId> {
        let mut ids: Vec<_> = self.processes.ids().collect();
        ids.order_by_key(|&id| self.processes[id].sort_index);
        ids
    }

    /// The tracks of a process in the order they are shown: by sort index, then in order of appearance.
    pub fn tracks_in_order(&self, process: ProcessId) -> Vec<TrackId> {
        let mut ids: Vec<_> = self.tracks.ids().filter(|&id| self.tracks[id].process == process).collect();
        ids.order_by_key(|&id| self.tracks[id].sort_index);
        ids
    }

    /// Bytes held by the big tables, without the look-up tables of the strings.
    pub fn bytes(&self) -> usize {
        let points = self.instants.bytes() + self.links.bytes();
        self.slices.bytes() + self.args.bytes() + self.strings.bytes() + points + self.counters.ts.capacity() * 16
    }
}
