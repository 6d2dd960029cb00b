//! The writer's side of a profile: events in any order, times on the source's clock, names as text or interned.

mod events;

use super::assemble;
use super::packed::Column;
use super::rows::{EndRows, LinkRows, PointRows, SliceRows};
pub use super::rows::{Point, Row};
use super::{
    ArgsArena, ArgsId, LinkValue, MetadataRow, NeuronCoreId, PhaseCounts, Process, ProcessId, Profile, Track, TrackId,
    TrackKind, Unit,
};
use ns_base::{Diagnostics, FxHashMap, IndexVec, Order, StrId, StringTable};

/// Times further from zero than this (146 years) are clamped, so that differences never overflow.
pub(super) const MAX_ABS_NS: i64 = i64::MAX / 2;

/// An event that an id joins to others: a step of a flow, of an async operation, of an object's life.
#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    /// Its track.
    pub track: TrackId,
    /// Its time, on the source's clock.
    pub ts_ns: i64,
    /// What kind of step it is, as a letter of Chrome's format, for which every reader translates: `s`, `t`, `f` are the steps of a flow; `b`,
    /// `n`, `e` (older: `S`, `T`, `p`, `F`) of an async operation; `N`, `O`, `D` of an object's life.
    pub phase: u8,
    /// Name.
    pub name: StrId,
    /// Category.
    pub category: StrId,
    /// The id that joins it to others.
    pub id: LinkValue,
    /// Whether a flow ends in the enclosing slice.
    pub binds_enclosing: bool,
    /// Arguments.
    pub args: ArgsId,
}

/// Collects events and makes a [`Profile`] of them. Ids are given in order of first use.
#[derive(Debug, Default)]
pub struct ProfileBuilder {
    pub(super) title: String,
    pub(super) format: String,
    pub(super) strings: StringTable,
    pub(super) processes: IndexVec<ProcessId, Process>,
    pub(super) tracks: IndexVec<TrackId, Track>,
    process_of_pid: FxHashMap<StrId, ProcessId>,
    track_of_tid: FxHashMap<(ProcessId, StrId), TrackId>,
    pub(super) args: ArgsArena,
    pub(super) slices: SliceRows,
    pub(super) ends: EndRows,
    pub(super) instants: PointRows,
    pub(super) instant_scope: Column<u8>,
    pub(super) links: PointRows,
    pub(super) link_ids: LinkRows,
    pub(super) counters: super::counters::CounterRows,
    pub(super) metadata: Vec<MetadataRow>,
    pub(super) phase_counts: PhaseCounts,
    pub(super) extra_events: u64,
    pub(super) properties: Vec<(String, String)>,
    pub(super) bounds: Option<(i64, i64)>,
    pub(super) unit: Unit,
    pub(super) may_overlap: bool,
}

impl ProfileBuilder {
    /// An empty builder. `format` becomes [`super::ProfileMeta::format`].
    #[must_use]
    pub fn new(format: &str) -> Self {
        Self { format: format.to_owned(), ..Self::default() }
    }

    /// Sets the title of the profile.
    pub fn set_title(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// Sets the unit of the axis, for numbers that are not nanoseconds.
    pub fn set_unit(&mut self, unit: Unit) {
        self.unit = unit;
    }

    /// Says that work on one track may overlap, so that overlapping slices are not reported as damage.
    pub fn allow_overlaps(&mut self) {
        self.may_overlap = true;
    }

    /// Sets the format when it is known only after the start.
    pub fn set_format(&mut self, format: &str) {
        format.clone_into(&mut self.format);
    }

    /// The id of a name or category, for the calls that take ids.
    pub fn intern(&mut self, text: &str) -> StrId {
        self.strings.intern(text)
    }

    /// Stores the arguments of an event: the raw text of a JSON object.
    pub fn add_args(&mut self, json: &str) -> ArgsId {
        self.args.add(json)
    }

    /// [`Self::add_args`] for a part of the text that [`Self::keep_text`] will be given: its start, and its bytes.
    pub fn add_args_part(&mut self, start: u64, bytes: usize) -> ArgsId {
        self.args.add_part(start, bytes)
    }

    /// Takes the text that arguments point into.
    pub fn keep_text(&mut self, text: Vec<u8>) {
        self.args.keep(text);
    }

    /// The process with this pid, created if it is new; named if `name` is not empty.
    pub fn process(&mut self, pid: &str, name: &str) -> ProcessId {
        let pid = self.strings.intern(pid);
        let id = self.process_of(pid);
        if !name.is_empty() {
            self.processes[id].name = self.strings.intern(name);
        }
        id
    }

    /// [`Self::process`] by interned pid, without a name.
    pub fn process_of(&mut self, pid: StrId) -> ProcessId {
        if let Some(&id) = self.process_of_pid.get(&pid) {
            return id;
        }
        let process = Process { pid, name: StrId::EMPTY, labels: StrId::EMPTY, sort_index: 0, neuron_core: None };
        let id = self.processes.push(process);
        self.process_of_pid.insert(pid, id);
        id
    }

    /// The track of a thread, created if it is new; named if `name` is not empty.
    pub fn thread(&mut self, process: ProcessId, tid: &str, name: &str) -> TrackId {
        let tid = self.strings.intern(tid);
        let id = self.thread_of(process, tid);
        if !name.is_empty() {
            self.tracks[id].name = self.strings.intern(name);
        }
        id
    }

    /// [`Self::thread`] by interned tid, without a name.
    pub fn thread_of(&mut self, process: ProcessId, tid: StrId) -> TrackId {
        if let Some(&id) = self.track_of_tid.get(&(process, tid)) {
            return id;
        }
        let track = Track { process, kind: TrackKind::Thread, tid, name: StrId::EMPTY, sort_index: 0, events: 0 };
        let id = self.tracks.push(track);
        self.track_of_tid.insert((process, tid), id);
        id
    }

    /// Adds a track whose slices are made of other events.
    pub fn derived_track(&mut self, process: ProcessId, kind: TrackKind, tid: StrId, name: StrId) -> TrackId {
        let track = Track { process, kind, tid, name, sort_index: 0, events: 0 };
        self.tracks.push(track)
    }

    /// Adds a track whose place is not known yet: [`Self::place_track`] has to set it.
    pub fn loose_track(&mut self) -> TrackId {
        self.derived_track(ProcessId(0), TrackKind::Thread, StrId::EMPTY, StrId::EMPTY)
    }

    /// Sets the process, tid and name of a track.
    pub fn place_track(&mut self, track: TrackId, process: ProcessId, tid: &str, name: &str) {
        let (tid, name) = (self.strings.intern(tid), self.strings.intern(name));
        let row = &mut self.tracks[track];
        (row.process, row.tid, row.name) = (process, tid, name);
    }

    /// Sets where a process is shown.
    pub fn set_process_sort_index(&mut self, process: ProcessId, sort_index: i64) {
        self.processes[process].sort_index = sort_index;
    }

    /// Sets the labels of a process.
    pub fn set_process_labels(&mut self, process: ProcessId, labels: &str) {
        self.processes[process].labels = self.strings.intern(labels);
    }

    /// Sets the NeuronCore that a process represents.
    pub fn set_neuron_core(&mut self, process: ProcessId, core: NeuronCoreId) {
        self.processes[process].neuron_core = Some(core);
    }

    /// Sets where a track is shown in its process.
    pub fn set_track_sort_index(&mut self, track: TrackId, sort_index: i64) {
        self.tracks[track].sort_index = sort_index;
    }

    /// Keeps a metadata event with an unknown name.
    pub fn metadata(&mut self, row: MetadataRow) {
        self.metadata.push(row);
        self.phase_counts.add("M", 1);
    }

    /// Counts an event that does not add to the profile: a broken event, or metadata that was understood.
    pub fn count_event(&mut self, phase: Option<&str>) {
        match phase {
            Some(phase) => self.phase_counts.add(phase, 1),
            None => self.extra_events += 1,
        }
    }

    /// Widens the span by an event without any other effect on the profile.
    pub fn note_time(&mut self, ts_ns: i64) {
        let ts = clamp(ts_ns);
        self.bounds = Some(self.bounds.map_or((ts, ts), |(low, high)| (low.min(ts), high.max(ts))));
    }

    /// Notes activity on a track, even if there is nothing to show.
    pub fn note_track(&mut self, track: TrackId) {
        self.tracks[track].events += 1;
    }

    /// Counts events of a kind that the Chrome format does not have, under a separate name.
    pub fn count_events(&mut self, kind: &str, n: u64) {
        self.phase_counts.add(kind, n);
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.phase_counts.total() + self.extra_events
    }

    /// Number of events so far that had a phase.
    pub fn phases(&self) -> u64 {
        self.phase_counts.total()
    }

    /// The slice that was added last.
    pub fn last_slice(&self) -> Option<Row> {
        self.slices.track.len().checked_sub(1).map(Row::Slice)
    }

    /// The instant that was added last, and its phase.
    pub fn last_instant(&self) -> Option<(Row, u8)> {
        let last = self.instants.ts.len().checked_sub(1)?;
        Some((Row::Instant(last), self.instants.phase.last()?))
    }

    /// The link event that was added last, and its phase.
    pub fn last_link(&self) -> Option<(Row, u8)> {
        let last = self.links.ts.len().checked_sub(1)?;
        Some((Row::Link(last), self.links.phase.last()?))
    }

    /// Adds members to the arguments of an event.
    pub fn join_args(&mut self, row: Row, more: ArgsId) {
        let (column, row) = match row {
            Row::Slice(i) => (&mut self.slices.args, i),
            Row::Instant(i) => (&mut self.instants.args, i),
            Row::Link(i) => (&mut self.links.args, i),
        };
        if row < column.len() {
            let joined = assemble::join_args(&mut self.args, column.get(row), more);
            column.set(row, joined);
        }
    }

    /// Instants and link events to which their reader gave this phase, by time.
    pub fn points(&self, phase: u8) -> Vec<Point> {
        let mut found = Vec::new();
        for (rows, is_link) in [(&self.instants, false), (&self.links, true)] {
            for (i, _) in rows.phase.iter().enumerate().filter(|(_, p)| *p == phase) {
                let id = if is_link { (self.link_ids.tag.get(i), self.link_ids.id.get(i)) } else { (0, 0) };
                let (track, ts) = (rows.track.get(i), rows.ts.get(i));
                found.push(Point { track, ts, name: rows.name.get(i), args: rows.args.get(i), id });
            }
        }
        found.order_by_key(|p| p.ts);
        found
    }

    /// Number of instants and link events so far.
    pub fn point_count(&self) -> usize {
        self.instants.ts.len() + self.links.ts.len()
    }

    /// The text of an id.
    pub fn text(&self, id: StrId) -> &str {
        self.strings.get(id)
    }

    /// The raw JSON of arguments.
    pub fn args_text(&self, id: ArgsId) -> &str {
        self.args.get(id)
    }

    /// The name of a track so far.
    pub fn track_name(&self, track: TrackId) -> &str {
        self.strings.get(self.tracks[track].name)
    }

    /// The name of a process so far.
    pub fn process_name(&self, process: ProcessId) -> &str {
        self.strings.get(self.processes[process].name)
    }

    /// Earliest and latest time so far, on the source's clock.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        self.bounds
    }

    /// The latest time so far, on the source's clock; 0 before any.
    pub fn end_time(&self) -> i64 {
        self.bounds.map_or(0, |(_, high)| high)
    }

    /// Process and tid of a track.
    pub fn place_of(&self, track: TrackId) -> (ProcessId, String) {
        let track = &self.tracks[track];
        (track.process, self.strings.get(track.tid).to_owned())
    }

    /// Whether anything has happened on a track so far.
    pub fn is_used(&self, track: TrackId) -> bool {
        self.tracks[track].events > 0
    }

    /// Number of slices so far.
    pub fn slice_count(&self) -> u64 {
        self.slices.track.len() as u64
    }

    /// Keeps a property of the whole file: the raw JSON of a value. A repeated key replaces the value.
    pub fn set_property(&mut self, key: &str, json: &str) {
        match self.properties.iter_mut().find(|(k, _)| k == key) {
            Some((_, value)) => json.clone_into(value),
            None => self.properties.push((key.to_owned(), json.to_owned())),
        }
    }

    /// Approximate number of bytes held, for a limit on memory.
    pub fn bytes(&self) -> usize {
        let points = self.instants.bytes() + self.instant_scope.bytes() + self.links.bytes() + self.link_ids.bytes();
        self.slices.bytes()
            + self.ends.bytes()
            + points
            + self.counters.bytes()
            + self.args.bytes()
            + self.strings.bytes()
    }

    /// Matches begins with ends, sorts, nests, moves the earliest time to zero, and adds the damage found to `diagnostics`.
    pub fn finish(self, diagnostics: Diagnostics) -> Profile {
        assemble::assemble(self, diagnostics)
    }

    fn note(&mut self, track: TrackId, ts: i64) {
        self.tracks[track].events += 1;
        self.note_time(ts);
    }

    fn count_phase_byte(&mut self, phase: u8) {
        self.phase_counts.add(char::from(phase).encode_utf8(&mut [0; 4]), 1);
    }
}

fn clamp(ns: i64) -> i64 {
    ns.clamp(-MAX_ABS_NS, MAX_ABS_NS)
}
