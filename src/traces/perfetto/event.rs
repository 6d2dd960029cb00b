//! Track events: slices, instants, counters, and the flows between them.

use super::annotations;
use super::reader::ReaderState;
use super::tracks::{TrackPlace, TrackTable, sequence_track};
use crate::json::ObjectText;
use ns_base::convert::{i64_to_f64, u64_to_usize};
use ns_base::wire::{Fields, Wire};
use ns_base::{FxHashMap, FxHashSet, Order, StrId};
use ns_profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder, TrackId};

/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Values of counters, whose names are settled at the end.
#[derive(Debug, Default)]
pub(super) struct Counters {
    samples: Vec<(u64, i64, f64)>,
    sums: FxHashMap<u64, f64>,
}

impl Counters {
    fn add(&mut self, tracks: &TrackTable, uuid: u64, ts: i64, value: f64) {
        let kind = tracks.counter(uuid);
        let mut value = value * kind.map_or(1.0, |k| k.multiplier);
        if kind.is_some_and(|k| k.is_incremental) {
            let sum = self.sums.entry(uuid).or_default();
            *sum += value;
            value = *sum;
        }
        self.samples.push((uuid, ts, value));
    }

    /// Adds them to the profile: a counter for each track, which names its thread if others of its process have the same name.
    pub fn finish(self, builder: &mut ProfileBuilder, tracks: &TrackTable) {
        let mut uuids: Vec<u64> = Vec::new();
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        uuids.extend(self.samples.iter().map(|s| s.0).filter(|&uuid| seen.insert(uuid)));
        let places: Vec<TrackPlace> = uuids.iter().map(|&uuid| tracks.place(uuid)).collect();
        let mut named: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        for place in &places {
            *named.entry((&place.pid, &place.name)).or_default() += 1;
        }
        let mut known: FxHashMap<u64, CounterName> = FxHashMap::default();
        for (&uuid, place) in uuids.iter().zip(&places) {
            let process = builder.process(&place.pid, &place.process_name);
            let track = builder.thread(process, &place.tid, &place.name);
            let unit = tracks.counter(uuid).map_or("", |c| &c.unit);
            let key = builder.intern(if unit.is_empty() { "value" } else { unit });
            let is_alone = named.get(&(&*place.pid, &*place.name)).is_none_or(|n| *n == 1);
            let id = if is_alone { StrId::EMPTY } else { builder.intern(&tracks.thread_around(uuid)) };
            known.insert(uuid, CounterName { track, name: builder.intern(&place.name), id, key });
        }
        for (uuid, ts, value) in self.samples {
            let Some(CounterName { track, name, id, key }) = known.get(&uuid) else { continue };
            builder.counter(*track, ts, *name, *id, &[(*key, value)]);
        }
    }
}

/// The name of a counter in the profile.
struct CounterName {
    track: TrackId,
    name: StrId,
    id: StrId,
    key: StrId,
}

/// The events that flows go through.
#[derive(Debug, Default)]
pub(super) struct Flows {
    steps: Vec<(i64, u64, TrackId)>,
}

impl Flows {
    /// Adds them to the profile: in the order of time, the first step begins a flow, and the last ends it.
    pub fn finish(mut self, builder: &mut ProfileBuilder) {
        self.steps.order_by_key(|&(ts, ..)| ts);
        let mut left: FxHashMap<u64, u32> = FxHashMap::default();
        for &(_, id, _) in &self.steps {
            *left.entry(id).or_default() += 1;
        }
        let mut begun: FxHashSet<u64> = FxHashSet::default();
        let name = builder.intern("flow");
        for (ts_ns, id, track) in self.steps {
            let left = left.entry(id).or_default();
            *left = left.saturating_sub(1);
            let phase = match (begun.insert(id), *left) {
                (true, _) => b's',
                (false, 0) => b'f',
                (false, _) => b't',
            };
            let (id, args) = (LinkValue::Number(id), ArgsId::NONE);
            builder.derived_link(LinkEvent {
                track,
                ts_ns,
                phase,
                name,
                category: name,
                id,
                binds_enclosing: true,
                args,
            });
        }
    }
}

/// The fields of an event, before its names are looked up.
#[derive(Default)]
struct Raw<'a> {
    kind: u64,
    track: Option<u64>,
    name_iid: u64,
    name: Option<Wire<'a>>,
    categories: Vec<Wire<'a>>,
    category_iids: Vec<u64>,
    annotations: Vec<&'a [u8]>,
    location: u64,
    value: Option<f64>,
    flows: Vec<u64>,
    ended_flows: Vec<u64>,
    extra_tracks: Vec<u64>,
    extra_values: Vec<f64>,
    extra_double_tracks: Vec<u64>,
    extra_double_values: Vec<f64>,
    delta_us: Option<i64>,
    absolute_us: Option<i64>,
    legacy: Option<&'a [u8]>,
}

impl<'a> Raw<'a> {
    fn of(message: &'a [u8]) -> Self {
        let mut raw = Self::default();
        for (field, value) in Fields::of(message) {
            match field {
                1 => raw.delta_us = Some(value.i64()),
                16 => raw.absolute_us = Some(value.i64()),
                3 => raw.category_iids.extend(value.varints()),
                22 => raw.categories.push(value),
                4 => raw.annotations.push(value.bytes()),
                6 => raw.legacy = Some(value.bytes()),
                9 => raw.kind = value.u64(),
                10 => raw.name_iid = value.u64(),
                23 => raw.name = Some(value),
                11 => raw.track = Some(value.u64()),
                30 => raw.value = Some(i64_to_f64(value.i64())),
                44 => raw.value = Some(value.f64()),
                34 => raw.location = value.u64(),
                47 | 36 => raw.flows.extend(fixed_or_varints(value, field == 47)),
                48 | 42 => raw.ended_flows.extend(fixed_or_varints(value, field == 48)),
                31 => raw.extra_tracks.extend(value.varints()),
                12 => raw.extra_values.extend(value.varints().map(|n| i64_to_f64(n.cast_signed()))),
                45 => raw.extra_double_tracks.extend(value.varints()),
                46 => raw.extra_double_values.extend(doubles(value)),
                _ => {}
            }
        }
        raw
    }
}

/// Numbers that are fixed eight bytes in newer traces.
fn fixed_or_varints(value: Wire<'_>, is_fixed: bool) -> Vec<u64> {
    match value {
        Wire::Bytes(bytes) if is_fixed => {
            bytes.chunks_exact(8).filter_map(|b| b.try_into().ok()).map(u64::from_le_bytes).collect()
        }
        other => other.varints().collect(),
    }
}

fn doubles(value: Wire<'_>) -> Vec<f64> {
    match value {
        Wire::Bytes(bytes) => bytes.chunks_exact(8).filter_map(|b| b.try_into().ok()).map(f64::from_le_bytes).collect(),
        one => vec![one.f64()],
    }
}

impl ReaderState {
    /// Takes a `TrackEvent`; `time` is the packet's.
    pub(super) fn track_event(&mut self, message: &[u8], sequence_id: u64, time: Option<i64>, offset: u64) {
        let raw = Raw::of(message);
        let sequence = self.sequences.entry(sequence_id).or_default();
        if let Some(us) = raw.absolute_us.or(raw.delta_us.map(|d| sequence.last_us.saturating_add(d))) {
            sequence.last_us = us;
        }
        let own_time =
            (raw.absolute_us.is_some() || raw.delta_us.is_some()).then(|| sequence.last_us.saturating_mul(1000));
        let Some(ts) = own_time.or(time) else {
            self.builder.count_event(None);
            self.diagnostics.add("no_time", Some(offset), || "an event has no time: skipped".to_owned());
            return;
        };
        let uuid = raw.track.or(sequence.track).unwrap_or_else(|| sequence_track(sequence_id));
        let name = match (raw.name, raw.name_iid) {
            (Some(name), _) => name.text().into_owned(),
            (None, 0) => String::new(),
            (None, iid) => sequence.names.get(&iid).cloned().unwrap_or_default(),
        };
        let categories = raw.categories.iter().map(|c| c.text().into_owned());
        let interned = raw.category_iids.iter().filter_map(|iid| sequence.categories.get(iid).cloned());
        let category = categories.chain(interned).collect::<Vec<_>>().join(",");
        let mut args = ObjectText::default();
        for annotation in &raw.annotations {
            annotations::add(&mut args, sequence, annotation);
        }
        if let Some((file, function, line)) = sequence.locations.get(&raw.location) {
            args.text("source", &format!("{function} {file}:{line}"));
        }
        let extra = if raw.extra_tracks.is_empty() { &sequence.counter_tracks } else { &raw.extra_tracks };
        let extra_double =
            if raw.extra_double_tracks.is_empty() { &sequence.double_counter_tracks } else { &raw.extra_double_tracks };
        let extras = extra.iter().zip(&raw.extra_values).chain(extra_double.iter().zip(&raw.extra_double_values));
        for (&uuid, &value) in extras {
            self.counters.add(&self.tracks, uuid, ts, value);
        }
        if raw.kind == COUNTER {
            match raw.value {
                Some(value) => self.counters.add(&self.tracks, uuid, ts, value),
                None => self.builder.count_event(None),
            }
            return;
        }
        let track = self.tracks.find(&mut self.builder, uuid);
        let (name, category) = (self.builder.intern(&name), self.builder.intern(&category));
        let args = args.take();
        let args = if args.is_empty() { ArgsId::NONE } else { self.builder.add_args(&args) };
        match raw.kind {
            BEGIN => self.builder.begin(track, ts, name, category, args, offset),
            END => self.builder.end(track, ts, name, args, offset),
            INSTANT => self.builder.instant(track, ts, b'i', b't', name, category, args),
            _ => self.legacy(raw.legacy, &Event { track, ts, name, category, args, offset }),
        }
        self.flows(track, ts, &raw);
    }

    /// Adds an event to a flow. The events of a flow may come in any order in the file.
    fn flows(&mut self, track: TrackId, ts_ns: i64, raw: &Raw<'_>) {
        let ids = raw.flows.iter().chain(&raw.ended_flows);
        self.flows.steps.extend(ids.map(|&id| (ts_ns, id, track)));
    }

    /// Events that were converted from the Chrome format have its phase.
    fn legacy(&mut self, legacy: Option<&[u8]>, event: &Event) {
        let Event { track, ts, name, category, args, offset } = *event;
        let (mut phase, mut dur_us, mut id, mut scope) = (0u64, 0i64, None, 0);
        for (field, value) in legacy.into_iter().flat_map(Fields::of) {
            match field {
                2 => phase = value.u64(),
                3 => dur_us = value.i64(),
                6 | 10 | 11 => id = Some(value.u64()),
                14 => scope = value.u64(),
                _ => {}
            }
        }
        let phase = u8::try_from(phase).unwrap_or(0);
        match phase {
            b'X' => self.builder.slice_of(track, ts, Some(dur_us.saturating_mul(1000)), name, category, args),
            b'B' => self.builder.begin(track, ts, name, category, args, offset),
            b'E' => self.builder.end(track, ts, name, args, offset),
            b's' | b't' | b'f' | b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b'N' | b'O' | b'D' => {
                let id = id.map_or(LinkValue::None, LinkValue::Number);
                let binds_enclosing = false;
                self.builder.link(LinkEvent { track, ts_ns: ts, phase, name, category, id, binds_enclosing, args });
            }
            0 => {
                // Only times or counters: there is no event to show.
                self.builder.note_time(ts);
                self.builder.count_event(None);
            }
            _ => {
                let scope = [b' ', b'g', b'p', b't'].get(u64_to_usize(scope)).copied().unwrap_or(b' ');
                self.builder.instant(track, ts, phase, scope, name, category, args);
            }
        }
    }
}

/// An event whose names are known.
struct Event {
    track: TrackId,
    ts: i64,
    name: StrId,
    category: StrId,
    args: ArgsId,
    offset: u64,
}
