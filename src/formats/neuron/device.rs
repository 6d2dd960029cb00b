//! Reads the output of `neuron-profile view --output-format json`: a list for each kind of row.

use super::check::check_summary;
use super::lists::{COUNTERS, CounterList, SPANS, SpanList, SpanTrack};
use super::text_of;
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use ns_base::{Diagnostics, FxHashMap, Interval, Refusal, StrId, TraceNs};
use ns_profile::device::{
    ACTIVE, DEVICE_PROCESS, DMA_PROCESS, DeviceEngine, DeviceTally, MODEL_INSTRUCTION, RUNTIME_INSTRUCTION,
};
use ns_profile::{ProcessId, ProfileBuilder, TrackId};

/// Reads a device profile. Lists of rows without times are kept as properties of the profile.
pub(crate) fn read_device_json(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let root = doc.root();
    let mut reader = DeviceReader::new(names_operators(root));
    for (key, list) in root.members() {
        reader.list(&String::from_utf8_lossy(key), list);
    }
    reader.memory(root.get("nc_mem_usage"));
    let DeviceReader { builder, mut diagnostics, tally, .. } = reader;
    check_summary(root, &tally.finish(), &mut diagnostics);
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

/// Whether any instruction names the operator of the model that it belongs to; those that do not are the runtime's.
fn names_operators(root: Value<'_>) -> bool {
    root.get("instruction").into_iter().flat_map(Value::items).any(is_of_operator)
}

fn is_of_operator(row: Value<'_>) -> bool {
    row.fields(["hlo_name", "layer", "nki_source_location"]).into_iter().any(|field| !text_of(field).is_empty())
}

/// Whether a row says something: broken text may leave empty ones.
fn is_row(row: Value<'_>) -> bool {
    row.is_object() && !row.raw().is_empty()
}

struct DeviceReader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    tally: DeviceTally,
    device: ProcessId,
    /// Whether instructions name the operators that they belong to.
    names_operators: bool,
    tracks: FxHashMap<(String, String), TrackId>,
    /// The start of the row before, by track.
    before: FxHashMap<TrackId, i64>,
}

impl DeviceReader {
    fn new(names_operators: bool) -> Self {
        let mut builder = ProfileBuilder::new("neuron-profile");
        let device = builder.process("", DEVICE_PROCESS);
        Self {
            builder,
            diagnostics: Diagnostics::new(),
            tally: DeviceTally::default(),
            device,
            names_operators,
            tracks: FxHashMap::default(),
            before: FxHashMap::default(),
        }
    }

    fn list(&mut self, kind: &str, list: Value<'_>) {
        if kind == "warnings" {
            return self.warnings(list);
        }
        if kind == "nc_mem_usage" {
            // It has no times: added at the start of the profile, which is known at the end.
            return;
        }
        if let Some(spans) = SPANS.iter().find(|s| s.list == kind) {
            return list.items().for_each(|row| self.span(spans, row));
        }
        let counters: Vec<_> = COUNTERS.iter().filter(|c| c.list == kind).collect();
        if !counters.is_empty() {
            return list.items().for_each(|row| counters.iter().for_each(|c| self.counter(c, row)));
        }
        let has_times = list.items().any(|row| row.get("timestamp").is_some());
        if !has_times && kind != "instruction" {
            // The summary is about the rows, and not one of them.
            if kind != "summary" {
                list.items().filter(|row| is_row(*row)).for_each(|_| self.builder.count_event(None));
            }
            return self.builder.set_property(kind, &list.raw_text());
        }
        list.items().for_each(|row| self.row(kind, row));
    }

    fn warnings(&mut self, list: Value<'_>) {
        for row in list.items().filter(|row| is_row(*row)) {
            let [message, category] = row.fields(["message", "category"]);
            self.builder.count_event(None);
            self.diagnostics.add("profiler_warning", Some(row.offset()), || {
                format!("the profiler said: {} ({})", text_of(message), text_of(category))
            });
        }
        self.builder.set_property("warnings", &list.raw_text());
    }

    /// A row whose time is missing is skipped.
    fn time(&mut self, kind: &str, row: Value<'_>, at: Option<Value<'_>>) -> Option<i64> {
        let at = at.and_then(|v| v.ns(TimeUnit::Ns));
        if at.is_none() && is_row(row) {
            self.builder.count_event(None);
            let text = || format!("a row of {kind:?} has no timestamp: skipped");
            self.diagnostics.add("no_time", Some(row.offset()), text);
        }
        at
    }

    /// The duration of a row; negative ones become none.
    fn duration(&mut self, kind: &str, row: Value<'_>, dur: Option<i64>) -> Option<i64> {
        if dur.is_some_and(|dur| dur < 0) {
            let text = || format!("a row of {kind:?} ends before it begins: shown with no duration");
            self.diagnostics.add("negative_duration", Some(row.offset()), text);
            return Some(0);
        }
        dur
    }

    fn track(&mut self, kind: &str, place: &str) -> TrackId {
        let key = (kind.to_owned(), place.to_owned());
        if let Some(&track) = self.tracks.get(&key) {
            return track;
        }
        let process = if kind == "dma" { self.builder.process("dma", DMA_PROCESS) } else { self.device };
        let name = if place.is_empty() { kind } else { place };
        let track = self.builder.thread(process, &format!("{kind}/{place}"), name);
        self.tracks.insert(key, track);
        track
    }

    /// An instruction, a transfer, or a row of a list that this reader does not know.
    fn row(&mut self, kind: &str, row: Value<'_>) {
        let [at, dur, label, group] = row.fields(["timestamp", "duration", "label", "timeline_track"]);
        let [subgroup, name, opcode, hlo] = row.fields(["subgroup", "name", "opcode", "hlo_name"]);
        let [value, variable] = row.fields(["value", "variable"]);
        let Some(at) = self.time(kind, row, at) else { return };
        let first = |all: &[Option<Value<'_>>]| {
            all.iter().map(|v| text_of(*v)).find(|t| !t.is_empty()).unwrap_or_default().into_owned()
        };
        let dur = dur.and_then(|v| v.ns(TimeUnit::Ns));
        let dur = self.duration(kind, row, dur);
        let place = first(&[group, label, subgroup]);
        let track = self.track(kind, &place);
        if let (Some(value), None) = (value.and_then(Value::f64), dur) {
            let (name, key) = (self.builder.intern(kind), self.builder.intern("value"));
            return self.builder.counter(track, at, name, StrId::EMPTY, &[(key, value)]);
        }
        // What the tool does not know it calls so.
        let variable = variable.filter(|v| text_of(Some(*v)) != "unknown");
        let mut name = first(&[opcode, name, hlo, variable, label]);
        if name.is_empty() {
            kind.clone_into(&mut name);
        }
        let is_of_model = !self.names_operators || is_of_operator(row);
        let span = Interval::new(TraceNs(at), TraceNs(at.saturating_add(dur.unwrap_or(0))));
        let engine = DeviceEngine::of_row(&place).filter(|_| kind == "instruction");
        match (kind, engine) {
            (_, Some(engine)) => self.tally.instruction(engine, &name, is_of_model, span),
            ("dma", _) => self.tally.transfer(span),
            _ => {}
        }
        self.order(kind, row, track, at);
        let category = match kind {
            "instruction" if is_of_model => MODEL_INSTRUCTION,
            "instruction" => RUNTIME_INSTRUCTION,
            other => other,
        };
        self.slice(row, track, (at, dur), &name, category);
    }

    fn slice(&mut self, row: Value<'_>, track: TrackId, (at, dur): (i64, Option<i64>), name: &str, category: &str) {
        let (name, category) = (self.builder.intern(name), self.builder.intern(category));
        let args = row.args(&mut self.builder);
        match dur {
            Some(dur) => self.builder.slice_of(track, at, Some(dur), name, category, args),
            None => self.builder.instant(track, at, b'i', b't', name, category, args),
        }
    }

    /// The tool writes the rows of an engine or queue in the order of time; a row that begins before the one before it means that
    /// the clock ran backwards.
    fn order(&mut self, kind: &str, row: Value<'_>, track: TrackId, at: i64) {
        let before = self.before.insert(track, at).filter(|before| *before > at);
        let Some(before) = before.filter(|_| kind == "instruction" || kind == "dma") else { return };
        let place = self.builder.track_name(track).to_owned();
        self.diagnostics.add("time_backwards", Some(row.offset()), || {
            format!("the clock of {place:?} runs backwards from {before} to {at} ns: shown at the times of the file")
        });
    }

    fn span(&mut self, list: &SpanList, row: Value<'_>) {
        let [start, end, dur] = row.fields(list.times);
        let Some(at) = self.time(list.list, row, start) else { return };
        let [name, engine, k, n] = row.fields(["name", "engine", "k", "n"]);
        let end = end.and_then(|v| v.ns(TimeUnit::Ns));
        let dur = dur.and_then(|v| v.ns(TimeUnit::Ns)).or_else(|| end.map(|end| end.saturating_sub(at)));
        let dur = self.duration(list.list, row, dur);
        let (place, name) = match list.track {
            SpanTrack::Throttle if k.and_then(Value::i64) == n.and_then(Value::i64) => {
                ("Throttle".to_owned(), "no limit".to_owned())
            }
            SpanTrack::Throttle => ("Throttle".to_owned(), format!("limit {} of {}", text_of(k), text_of(n))),
            SpanTrack::Layers => {
                let name = text_of(name).into_owned();
                let depth = name.split('/').filter(|part| !part.is_empty()).count().max(1);
                let place = match depth {
                    1 => "Subgraphs".to_owned(),
                    2 => "Layers".to_owned(),
                    deeper => format!("Layers of depth {}", deeper - 1),
                };
                (place, name)
            }
            SpanTrack::Active => {
                let engine = text_of(engine);
                let name = DeviceEngine::of_row(&engine).map_or(engine, |e| e.name().into());
                (format!("{name}{ACTIVE}"), "active".to_owned())
            }
        };
        let track = self.track(list.list, &place);
        self.slice(row, track, (at, Some(dur.unwrap_or(0))), &name, list.list);
    }

    fn counter(&mut self, list: &CounterList, row: Value<'_>) {
        let at = row.get("timestamp");
        let at = if list.is_repeated { at.and_then(|v| v.ns(TimeUnit::Ns)) } else { self.time(list.list, row, at) };
        let Some(at) = at else { return };
        let by = (!list.series_by.is_empty()).then(|| text_of(row.get(list.series_by)).into_owned());
        let id = if list.id.is_empty() { String::new() } else { text_of(row.get(list.id)).into_owned() };
        let values: Vec<(StrId, f64)> = list
            .series
            .iter()
            .filter_map(|key| {
                let value = row.get(key).and_then(Value::f64)?;
                Some((self.builder.intern(by.as_deref().unwrap_or(key)), value))
            })
            .collect();
        let track = self.track("counters", "counters");
        let (name, id) = (self.builder.intern(list.name), self.builder.intern(&id));
        match (values.is_empty(), list.is_repeated) {
            (true, false) => {
                self.builder.count_event(None);
                let text = || format!("a row of {:?} has none of {}: skipped", list.list, list.series.join(", "));
                self.diagnostics.add("no_value", Some(row.offset()), text);
            }
            (true, true) => {}
            (false, true) => self.builder.derived_counter(track, at, name, id, &values),
            (false, false) => self.builder.counter(track, at, name, id, &values),
        }
    }

    /// Memory of the device by use: amounts for the whole profile, so a value at its start.
    fn memory(&mut self, list: Option<Value<'_>>) {
        let at = self.builder.bounds().map_or(0, |(low, _)| low);
        for row in list.into_iter().flat_map(Value::items).filter(|row| is_row(*row)) {
            let [usage, bytes, device, core] = row.fields(["usage_type", "amount_bytes", "nd", "nc"]);
            let Some(bytes) = bytes.and_then(Value::f64) else {
                self.builder.count_event(None);
                let text = || "a row of \"nc_mem_usage\" has no amount_bytes: skipped".to_owned();
                self.diagnostics.add("no_value", Some(row.offset()), text);
                continue;
            };
            let track = self.track("counters", "counters");
            let name = self.builder.intern("Device memory (bytes)");
            let id = self.builder.intern(&format!("device {} core {}", text_of(device), text_of(core)));
            let key = self.builder.intern(&text_of(usage));
            self.builder.counter(track, at, name, id, &[(key, bytes)]);
        }
    }
}
