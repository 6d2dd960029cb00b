//! A Perfetto trace: a track for each process, thread, counter and row of async operations; events with their
//! arguments; arrows of flows between slices.

use super::chrome::source_start_ns;
use super::lanes::{Change, lane_name, lanes, own_tracks};
use super::message::Message;
use crate::json::{Doc, Value};
use ns_base::{FxHashMap, FxHashSet, StrId};
use ns_profile::asyncs::AsyncTable;
use ns_profile::flows::FlowIndex;
use ns_profile::{ArgsId, ProcessId, Profile, SliceId};

/// The writer's only sequence.
const SEQUENCE: u64 = 1;
/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

pub(super) fn write(profile: &Profile) -> Vec<u8> {
    let mut flows: FxHashMap<SliceId, Vec<u64>> = FxHashMap::default();
    for (i, arrow) in FlowIndex::new(profile).arrows().iter().enumerate() {
        for slice in [arrow.from, arrow.to] {
            flows.entry(slice).or_default().push(i as u64 + 1);
        }
    }
    let mut writer = Writer {
        profile,
        flows,
        out: Message::default(),
        known: FxHashSet::default(),
        next_uuid: 1,
        // Times are not negative in this format.
        origin_ns: source_start_ns(profile).max(0),
        first: true,
    };
    let processes: Vec<_> = profile.processes().ids().map(|id| writer.process(id)).collect();
    writer.threads(&processes);
    writer.asyncs(&processes);
    writer.counters(&processes);
    writer.out.finish()
}

struct Writer<'a> {
    profile: &'a Profile,
    flows: FxHashMap<SliceId, Vec<u64>>,
    out: Message,
    /// Texts that were interned.
    known: FxHashSet<(u32, StrId)>,
    next_uuid: u64,
    origin_ns: i64,
    first: bool,
}

impl Writer<'_> {
    fn uuid(&mut self) -> u64 {
        self.next_uuid += 1;
        self.next_uuid - 1
    }

    fn packet(&mut self, mut packet: Message) {
        packet.uint(10, SEQUENCE);
        if std::mem::take(&mut self.first) {
            // SEQ_INCREMENTAL_STATE_CLEARED: no string was interned before.
            packet.uint(13, 1);
        } else {
            // SEQ_NEEDS_INCREMENTAL_STATE.
            packet.uint(13, 2);
        }
        self.out.message(1, &packet);
    }

    fn describe(&mut self, descriptor: &Message) {
        let mut packet = Message::default();
        packet.message(60, descriptor);
        self.packet(packet);
    }

    /// Process numbers are the file's pids if these are numbers; otherwise new numbers.
    fn pid(&self, process: ProcessId) -> i64 {
        let pid = self.profile.str(self.profile.processes()[process].pid);
        pid.parse::<i32>().map_or(0x4000_0000 + i64::from(process.0), i64::from)
    }

    fn process(&mut self, process: ProcessId) -> u64 {
        let (uuid, row) = (self.uuid(), &self.profile.processes()[process]);
        let mut inner = Message::default();
        inner.int(1, self.pid(process)).text(6, &self.profile.process_label(process));
        let mut descriptor = Message::default();
        descriptor.uint(1, uuid).message(3, &inner);
        if row.sort_index != 0 {
            descriptor.int(12, row.sort_index);
        }
        self.describe(&descriptor);
        uuid
    }

    fn threads(&mut self, processes: &[u64]) {
        for track in own_tracks(self.profile) {
            let row = &self.profile.tracks()[track];
            let stacks = lanes(self.profile, track);
            let instants: Vec<_> =
                self.profile.instants().ids().filter(|&id| self.profile.instants().track(id) == track).collect();
            let Some(&parent) = processes.get(row.process.0 as usize) else { continue };
            let mut thread_uuid = None;
            for number in 0..stacks.len().max(usize::from(!instants.is_empty())) {
                let uuid = self.uuid();
                let mut descriptor = Message::default();
                descriptor.uint(1, uuid);
                let tid = self.profile.str(row.tid).parse::<i32>();
                match (number, tid) {
                    (0, Ok(tid)) => {
                        let mut inner = Message::default();
                        inner.int(1, self.pid(row.process)).int(2, i64::from(tid));
                        inner.text(5, &lane_name(self.profile, track, 0));
                        descriptor.message(4, &inner);
                    }
                    _ => {
                        descriptor.uint(5, parent).text(2, &lane_name(self.profile, track, number));
                    }
                }
                self.describe(&descriptor);
                thread_uuid = thread_uuid.or(Some(uuid));
                for change in stacks.get(number).into_iter().flatten() {
                    self.change(uuid, *change);
                }
            }
            for id in instants {
                let table = self.profile.instants();
                let event = (table.name(id), table.category(id), table.args(id));
                self.event(INSTANT, thread_uuid.unwrap_or(parent), table.ts(id).0, event, &[]);
            }
        }
    }

    fn change(&mut self, uuid: u64, change: Change) {
        let slices = self.profile.slices();
        match change {
            Change::Open(id, at) => {
                let flows = self.flows.remove(&id).unwrap_or_default();
                self.event(BEGIN, uuid, at, (slices.name(id), slices.category(id), slices.args(id)), &flows);
            }
            Change::Close(_, at) => self.event(END, uuid, at, (StrId::EMPTY, StrId::EMPTY, ArgsId::NONE), &[]),
        }
    }

    fn event(
        &mut self,
        kind: u64,
        uuid: u64,
        at_ns: i64,
        (name, category, args): (StrId, StrId, ArgsId),
        flows: &[u64],
    ) {
        let (mut packet, mut event, mut interned) = (Message::default(), Message::default(), Message::default());
        packet.uint(8, self.origin_ns.saturating_add(at_ns).max(0).cast_unsigned());
        event.uint(9, kind).uint(11, uuid);
        let mut has_new = false;
        for (field, table, id) in [(10, 2, name), (3, 1, category)] {
            if id == StrId::EMPTY {
                continue;
            }
            event.uint(field, u64::from(id.0) + 1);
            if self.known.insert((table, id)) {
                let mut entry = Message::default();
                entry.uint(1, u64::from(id.0) + 1).text(2, self.profile.str(id));
                interned.message(table, &entry);
                has_new = true;
            }
        }
        for &flow in flows {
            event.fixed64(47, flow);
        }
        let doc = Doc::new(self.profile.args().get(args).as_bytes());
        for (key, value) in doc.root().members() {
            event.message(4, &annotation(key, value));
        }
        if has_new {
            packet.message(12, &interned);
        }
        packet.message(11, &event);
        self.packet(packet);
    }

    fn asyncs(&mut self, processes: &[u64]) {
        let table = AsyncTable::new(self.profile);
        for group in table.groups() {
            let Some(&parent) = processes.get(group.process.0 as usize) else { continue };
            for row in &group.rows {
                let uuid = self.uuid();
                let category = self.profile.str(group.category);
                let mut descriptor = Message::default();
                let name = if category.is_empty() { "async" } else { category };
                descriptor.uint(1, uuid).uint(5, parent).text(2, name);
                self.describe(&descriptor);
                for span in row.iter().filter_map(|&id| table.get(id)) {
                    self.event(BEGIN, uuid, span.time.start.0, (span.name, span.category, span.args), &[]);
                    self.event(END, uuid, span.time.end.0, (StrId::EMPTY, StrId::EMPTY, ArgsId::NONE), &[]);
                }
            }
        }
    }

    fn counters(&mut self, processes: &[u64]) {
        let counters = self.profile.counters();
        for (id, series) in counters.series().iter_enumerated() {
            let counter = &counters.counters()[series.counter];
            let Some(&parent) = processes.get(counter.process.0 as usize) else { continue };
            let (name, key) = (self.profile.str(counter.name), self.profile.str(series.key));
            let label = [name, self.profile.str(counter.id), if counter.series.len() > 1 { key } else { "" }];
            let label = label.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            let uuid = self.uuid();
            let mut descriptor = Message::default();
            descriptor.uint(1, uuid).uint(5, parent).text(2, &label).message(8, &Message::default());
            self.describe(&descriptor);
            for (at, value) in counters.samples(id) {
                let (mut packet, mut event) = (Message::default(), Message::default());
                packet.uint(8, self.origin_ns.saturating_add(at.0).max(0).cast_unsigned());
                event.uint(9, COUNTER).uint(11, uuid).double(44, value);
                packet.message(11, &event);
                self.packet(packet);
            }
        }
    }
}

/// A `DebugAnnotation`: values that are neither text nor numbers stay JSON. A null is an annotation without a value,
/// because Perfetto's trace processor stops at a null in JSON.
fn annotation(key: &[u8], value: Value<'_>) -> Message {
    let mut annotation = Message::default();
    annotation.text(10, &String::from_utf8_lossy(key));
    let raw = value.raw_text();
    match (value.str(), value.i64(), raw.as_ref()) {
        (Some(text), ..) => annotation.text(6, &text),
        (_, _, "true" | "false") => annotation.uint(2, u64::from(raw == "true")),
        (_, Some(number), raw) if number.to_string() == raw => annotation.int(4, number),
        (_, _, "null") => &mut annotation,
        _ => annotation.text(9, &raw),
    };
    annotation
}
