//! `XSpace` of XLA (`*.xplane.pb`): planes of lines of events, which name their metadata by number.
//!
//! Schema: `tsl/profiler/protobuf/xplane.proto`. Times are picoseconds from the start of a line. The two ends of a slice
//! are rounded to nanoseconds, not its length, so that nested slices stay nested.

use crate::interface::document_too_large;
use std::ops::Range;

use super::json::ObjectText;
use super::pieces::Pieces;
use super::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_base::wire::{Fields, Wire};
use ns_base::{Diagnostics, FxHashMap, StrId};
use ns_profile::{ArgsId, LinkEvent, LinkValue, NUM_OCCURRENCES, Profile, ProfileBuilder, TrackId};

/// Name of the format in summaries.
pub const FORMAT: &str = "xplane";

/// The prefix of plane names for devices of other tools.
pub const CUSTOM_PLANE: &str = "/device:CUSTOM:";

/// Reads a file. The names of events come after the events, so the file is collected; parts that were read are freed.
pub struct XPlaneReader {
    file: Pieces,
    limits: ReadLimits,
}

impl XPlaneReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self { file: Pieces::default(), limits }
    }
}

impl ChunkedReader for XPlaneReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        self.file.push(chunk);
        let limit = self.limits.document_bytes;
        if self.file.len() as u64 > limit { Err(document_too_large(limit)) } else { Ok(()) }
    }

    fn finish(self: Box<Self>) -> Result<Profile, Refusal> {
        let XplaneRows { builder, diagnostics } = read_space(self.file);
        Ok(builder.finish(diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        let bytes = self.file.len() as u64;
        ReadProgress { file_bytes: bytes, text_bytes: bytes, events: 0 }
    }
}

struct XplaneRows {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
}

fn read_space(mut file: Pieces) -> XplaneRows {
    let (mut builder, mut diagnostics) = (ProfileBuilder::new(FORMAT), Diagnostics::new());
    let (mut planes, mut hosts, mut at, end) = (0u32, Vec::new(), 0, file.len());
    while let Some((field, content, next)) = file.field(at..end) {
        match field {
            1 => {
                planes += 1;
                read_plane(&mut builder, &mut diagnostics, &mut file, content.range(), planes);
            }
            2 => diagnostics.add("profiler_error", None, || format!("the profiler said: {}", file.text(&content))),
            3 => diagnostics.add("profiler_warning", None, || format!("the profiler said: {}", file.text(&content))),
            4 => hosts.push(file.text(&content)),
            _ => {}
        }
        at = next;
    }
    if at < end {
        // The plane in which the file ends is an incomplete field: its content is read nevertheless.
        if let Some(rest) = cut_plane(&file, at) {
            read_plane(&mut builder, &mut diagnostics, &mut file, rest, planes + 1);
        }
        diagnostics.add("not_closed", Some(at as u64), || {
            "the file is cut off or damaged after here: read as far as it goes".to_owned()
        });
    }
    if !hosts.is_empty() {
        builder.set_property("hostnames", &serde_json::Value::from(hosts).to_string());
    }
    XplaneRows { builder, diagnostics }
}

/// The existing part of a plane whose end is missing.
fn cut_plane(file: &Pieces, at: usize) -> Option<Range<usize>> {
    let mut head = Vec::new();
    file.copy(at..(at + 11).min(file.len()), &mut head);
    let content = head.strip_prefix(&[0x0a])?;
    let (len, used) = ns_base::wire::varint(content)?;
    let start = at + 1 + used;
    (len > (file.len() - start) as u64).then_some(start..file.len())
}

/// Names of events and of their values in a plane.
struct Names<'a> {
    events: FxHashMap<i64, EventMetadata<'a>>,
    stats: FxHashMap<i64, Wire<'a>>,
}

#[derive(Default)]
struct EventMetadata<'a> {
    name: Option<Wire<'a>>,
    display_name: Option<Wire<'a>>,
    stats: Vec<&'a [u8]>,
}

impl<'a> Names<'a> {
    fn of(plane: &'a [u8]) -> Self {
        let mut names = Self { events: FxHashMap::default(), stats: FxHashMap::default() };
        for (field, value) in Fields::of(plane) {
            match field {
                4 => {
                    let (key, message) = entry(value.bytes());
                    let mut metadata = EventMetadata::default();
                    for (field, value) in Fields::of(message) {
                        match field {
                            2 => metadata.name = Some(value),
                            4 => metadata.display_name = Some(value),
                            5 => metadata.stats.push(value.bytes()),
                            _ => {}
                        }
                    }
                    names.events.insert(key, metadata);
                }
                5 => {
                    let (key, message) = entry(value.bytes());
                    let name = Fields::of(message).find(|(field, _)| *field == 2);
                    names.stats.insert(key, name.map_or(Wire::Bytes(&[]), |(_, value)| value));
                }
                _ => {}
            }
        }
        names
    }
}

/// Key and value of an entry of a map; the value also has its key as field 1.
fn entry(bytes: &[u8]) -> (i64, &[u8]) {
    let (mut key, mut message) = (0, &[][..]);
    for (field, value) in Fields::of(bytes) {
        match field {
            1 => key = value.i64(),
            2 => message = value.bytes(),
            _ => {}
        }
    }
    (key, message)
}

/// The field of a line in a plane.
const LINE: u32 = 3;

fn read_plane(
    builder: &mut ProfileBuilder,
    diagnostics: &mut Diagnostics,
    file: &mut Pieces,
    plane: Range<usize>,
    number: u32,
) {
    // Everything except the lines, which are most of the plane.
    let (mut tables, mut at) = (Vec::new(), plane.start);
    while let Some((field, _, next)) = file.field(at..plane.end) {
        if field != LINE {
            file.copy(at..next, &mut tables);
        }
        at = next;
    }
    let names = Names::of(&tables);
    let name = Fields::of(&tables).find(|(field, _)| *field == 2).map(|(_, value)| value.text().into_owned());
    let name = name.unwrap_or_else(|| format!("plane {number}"));
    let mut reader = PlaneReader { names: &names, builder, diagnostics, args: ObjectText::default(), summed_ps: 0 };
    at = plane.start;
    while let Some((field, content, next)) = file.field(at..plane.end) {
        if field == LINE {
            reader.line(&name, file, content.range());
        }
        at = next;
    }
}

struct PlaneReader<'a, 'b> {
    names: &'b Names<'a>,
    builder: &'b mut ProfileBuilder,
    diagnostics: &'b mut Diagnostics,
    args: ObjectText,
    /// Where the next sum of events begins in its line: sums have no times.
    summed_ps: i128,
}

impl PlaneReader<'_, '_> {
    fn line(&mut self, plane: &str, file: &mut Pieces, line: Range<usize>) {
        let (mut id, mut display_id, mut start_ns) = (0i64, 0i64, 0i64);
        let (mut name, mut display_name, mut at) = (String::new(), String::new(), line.start);
        while let Some((field, content, next)) = file.field(at..line.end) {
            match field {
                1 => id = content.i64(),
                2 => name = file.text(&content),
                3 => start_ns = content.i64(),
                10 => display_id = content.i64(),
                11 => display_name = file.text(&content),
                _ => {}
            }
            at = next;
        }
        let label = if display_name.is_empty() { &name } else { &display_name };
        let tid = if display_id == 0 { id } else { display_id };
        let process = self.builder.process(plane, plane.strip_prefix(CUSTOM_PLANE).unwrap_or(plane));
        let mut tid_text = tid.to_string();
        let mut track = self.builder.thread(process, &tid_text, "");
        let mut again = 2;
        while self.builder.is_used(track) && again < 1000 {
            tid_text = format!("{tid} ({again})");
            track = self.builder.thread(process, &tid_text, "");
            again += 1;
        }
        let track = self.builder.thread(process, &tid_text, label);
        self.summed_ps = 0;
        let (mut at, mut event) = (line.start, Vec::new());
        while let Some((field, content, next)) = file.field(at..line.end) {
            if field == 4 {
                event.clear();
                file.copy(content.range(), &mut event);
                self.event(track, start_ns, &event);
            }
            at = next;
            file.forget_before(at);
        }
    }

    fn event(&mut self, track: TrackId, line_ns: i64, event: &[u8]) {
        let (mut metadata, mut offset_ps, mut dur_ps, mut occurrences) = (0i64, None, 0i64, None);
        for (field, value) in Fields::of(event) {
            match field {
                1 => metadata = value.i64(),
                2 => offset_ps = Some(value.i64()),
                3 => dur_ps = value.i64(),
                5 => occurrences = Some(value.i64()),
                _ => {}
            }
        }
        let known = self.names.events.get(&metadata);
        let name = known.and_then(|m| m.display_name.or(m.name)).map(|n| n.text().into_owned());
        if name.is_none() {
            self.diagnostics
                .add("no_name", None, || format!("an event has the metadata {metadata}, which is not there"));
        }
        let name = self.builder.intern(&name.unwrap_or_else(|| format!("event {metadata}")));
        let mut start_ps = i128::from(line_ns) * 1000 + i128::from(offset_ps.unwrap_or(0));
        if let Some(occurrences) = occurrences.filter(|_| offset_ps.is_none()) {
            // A sum over events that were not kept one by one: sums follow each other.
            self.builder.intern(NUM_OCCURRENCES);
            self.args.number(NUM_OCCURRENCES, occurrences);
            start_ps += self.summed_ps;
            self.summed_ps += i128::from(dur_ps.max(0));
            self.diagnostics.add("sums_without_times", None, || {
                "events were summed up when they were recorded: each sum is shown once, after the one before it"
                    .to_owned()
            });
        }
        let (start, end) = (to_ns(start_ps), to_ns(start_ps + i128::from(dur_ps.max(0))));
        let mut marks = Marks::default();
        for stats in known.into_iter().flat_map(|m| &m.stats) {
            self.stat(stats, &mut marks);
        }
        for (_, stat) in Fields::of(event).filter(|(field, _)| *field == 4) {
            self.stat(stat.bytes(), &mut marks);
        }
        let category = marks.category.take().map_or(StrId::EMPTY, |c| self.builder.intern(&c));
        let args = self.args.take();
        let args = if args.is_empty() { ArgsId::NONE } else { self.builder.add_args(&args) };
        self.builder.slice_of(track, start, Some(end - start), name, category, args);
        self.links(track, start, &marks);
    }

    fn stat(&mut self, stat: &[u8], marks: &mut Marks) {
        let (mut key, mut found) = (0i64, None);
        for (field, value) in Fields::of(stat) {
            match field {
                1 => key = value.i64(),
                2..=7 => found = Some((field, value)),
                _ => {}
            }
        }
        let Some((field, value)) = found else { return };
        let name = self.names.stats.get(&key).map_or_else(|| format!("stat {key}").into(), |n| n.text());
        match (field, value) {
            (2, value) => self.args.number(&name, json_number(value.f64())),
            (3, value) => self.args.number(&name, value.u64()),
            (4, value) => self.args.number(&name, value.i64()),
            // The format has no truth values: they are written as text.
            (5, value) if matches!(value.bytes(), b"true" | b"false") => self.args.number(&name, value.text()),
            (5, value) => self.args.text(&name, &value.text()),
            (7, value) => {
                let text = self.names.stats.get(&value.i64()).map(|t| t.text().into_owned()).unwrap_or_default();
                self.args.text(&name, &text);
            }
            // Bytes are programs and other messages.
            _ => {}
        }
        marks.note(&name, value, |id| self.names.stats.get(&id).map(|t| t.text().into_owned()));
    }

    /// Flows are numbers with two bits of direction; work that is handed on has the same number at its producer and consumer.
    fn links(&mut self, track: TrackId, ts_ns: i64, marks: &Marks) {
        let name = self.builder.intern("flow");
        let mut ends = Vec::new();
        if let Some(flow) = marks.flow {
            let id = LinkValue::Number(flow >> 2);
            ends.extend((flow & 2 != 0).then_some((b's', id, "flow")));
            ends.extend((flow & 1 != 0).then_some((b'f', id, "flow")));
        }
        for (phase, kind, id) in
            [(b's', marks.producer_type, marks.producer), (b'f', marks.consumer_type, marks.consumer)]
        {
            if let Some(id) = id {
                let text = self.builder.intern(&format!("{}:{id}", kind.unwrap_or(0)));
                ends.push((phase, LinkValue::Text(text), "context"));
            }
        }
        for (phase, id, category) in ends {
            let category = self.builder.intern(category);
            let event =
                LinkEvent { track, ts_ns, phase, name, category, id, binds_enclosing: true, args: ArgsId::NONE };
            self.builder.derived_link(event);
        }
    }
}

/// Values with a meaning beyond their text.
#[derive(Default)]
struct Marks {
    category: Option<String>,
    flow: Option<u64>,
    producer: Option<u64>,
    producer_type: Option<u64>,
    consumer: Option<u64>,
    consumer_type: Option<u64>,
}

impl Marks {
    fn note(&mut self, name: &str, value: Wire<'_>, reference: impl Fn(i64) -> Option<String>) {
        match name {
            "hlo_category" | "category" => {
                self.category = match value {
                    Wire::Bytes(_) => Some(value.text().into_owned()),
                    other => reference(other.i64()),
                };
            }
            "flow" => self.flow = Some(value.u64()),
            "_p" | "producer_id" => self.producer = Some(value.u64()),
            "_pt" | "producer_type" => self.producer_type = Some(value.u64()),
            "_c" | "consumer_id" => self.consumer = Some(value.u64()),
            "_ct" | "consumer_type" => self.consumer_type = Some(value.u64()),
            _ => {}
        }
    }
}

/// Picoseconds to nanoseconds, halves up, saturating.
fn to_ns(ps: i128) -> i64 {
    let ns = (ps + 500).div_euclid(1000);
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN / 2 } else { i64::MAX / 2 }).clamp(i64::MIN / 2, i64::MAX / 2)
}

/// A number as JSON can have it.
fn json_number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_profile::Occurrences;

    /// A field of bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let len = u8::try_from(bytes.len()).unwrap();
        [&[number << 3 | 2, len], bytes].concat()
    }

    #[test]
    fn sums_of_events_follow_each_other_and_have_their_number() {
        let sum = |metadata: u8, occurrences: u8, ps: u8| field(4, &[8, metadata, 24, ps, 40, occurrences]);
        let name = |id: u8, text: &str| {
            field(4, &[&[8, id][..], &field(2, &[&[8, id][..], &field(2, text.as_bytes())].concat())].concat())
        };
        let line = [sum(1, 100, 120), sum(2, 40, 80)].concat();
        let plane = [field(2, b"/device:TPU:0"), field(3, &line), name(1, "fusion"), name(2, "copy")].concat();
        let mut reader = Box::new(XPlaneReader::new(ReadLimits::default()));
        reader.push(&field(1, &plane)).unwrap();
        let profile = reader.finish().unwrap();
        let (slices, mut occurrences) = (profile.slices(), Occurrences::of(&profile));
        let counts = slices.ids().map(|id| (profile.str(slices.name(id)), occurrences.count(&profile, id)));
        assert_eq!(counts.collect::<Vec<_>>(), [("fusion", 100), ("copy", 40)]);
        assert!(slices.ids().all(|id| slices.enclosing(id).is_none()), "no sum is inside another");
        assert_eq!(profile.diagnostics().count("sums_without_times"), 2);
    }

    #[test]
    fn truth_values_that_are_written_as_text_are_truth_values() {
        let stat = field(4, &[&[8, 1][..], &field(5, b"true")].concat());
        let event = field(4, &[&[8, 1, 16, 0, 24, 9][..], &stat].concat());
        let name =
            |number: u8, text: &str| field(number, &[&[8, 1][..], &field(2, &field(2, text.as_bytes()))].concat());
        let plane = [field(2, b"host"), field(3, &event), name(4, "dot"), name(5, "continues")].concat();
        let mut reader = Box::new(XPlaneReader::new(ReadLimits::default()));
        reader.push(&field(1, &plane)).unwrap();
        let profile = reader.finish().unwrap();
        let args: Vec<&str> = profile.slices().ids().map(|id| profile.args().get(profile.slices().args(id))).collect();
        assert_eq!(args, [r#"{"continues":true}"#]);
    }
}
