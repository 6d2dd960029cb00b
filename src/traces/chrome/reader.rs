//! From the events of the text to the rows of a profile.

use super::event::RawEvent;
use super::event::{Broken, EventSink};
use super::ids::TrackCache;
use super::memory::MemoryEvents;
use super::stacks::Stacks;
use super::system::{SYSTEM_TRACE, SystemTrace};
use super::tokenizer::{Form, MAX_EVENT_BYTES, Tokenizer};
use super::{FORMAT_ARRAY, FORMAT_OBJECT, counter, ids, metadata, samples};
use crate::decimal::{TimeError, us_text_to_ns};
use crate::interface::{empty, not_a_profile};
use crate::json::name_json_object;
use crate::json::scan::{has_unescaped_path, text_of, unescape};
use crate::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_base::{Diagnostics, StrId};
use ns_profile::{ArgsId, LinkEvent, Profile, ProfileBuilder, TrackId};

/// Reads the Trace Event format.
pub struct ChromeReader {
    tokenizer: Tokenizer,
    rows: Rows,
    limits: ReadLimits,
    bytes: u64,
}

/// The rows that events become.
pub(super) struct Rows {
    pub(super) builder: ProfileBuilder,
    pub(super) diagnostics: Diagnostics,
    tracks: TrackCache,
    series: Vec<(StrId, f64)>,
    pub(super) stacks: Stacks,
    system: SystemTrace,
    memory: MemoryEvents,
}

impl ChromeReader {
    /// An empty reader.
    pub fn new(limits: ReadLimits) -> Self {
        Self::of(Tokenizer::new(), limits)
    }

    /// A reader for a part of a text that begins at this byte.
    pub fn of_part(limits: ReadLimits, offset: u64) -> Self {
        Self::of(Tokenizer::at(offset), limits)
    }

    /// A reader for events on lines, without an array around them.
    pub fn of_lines(limits: ReadLimits) -> Self {
        Self::of(Tokenizer::of_lines(), limits)
    }

    fn of(tokenizer: Tokenizer, limits: ReadLimits) -> Self {
        let rows = Rows {
            builder: ProfileBuilder::new(FORMAT_OBJECT),
            diagnostics: Diagnostics::new(),
            tracks: TrackCache::default(),
            series: Vec::new(),
            stacks: Stacks::default(),
            system: SystemTrace::default(),
            memory: MemoryEvents::default(),
        };
        Self { tokenizer, rows, limits, bytes: 0 }
    }

    /// Names an object without events.
    fn name_object(&self) -> String {
        let tokenizer = &self.tokenizer;
        if let Some(known) = name_json_object(&tokenizer.keys) {
            return known.to_owned();
        }
        if let Some((byte, offset)) = tokenizer.not_json {
            let byte = char::from(byte);
            return format!("text that begins as JSON does, but is not: {byte:?} at byte {offset} is out of place");
        }
        let is = match tokenizer.odd_events {
            Some(b'{') => "an object",
            Some(b'"') => "text",
            Some(b'n') => "null",
            Some(_) => "not a list",
            None => return format!("a JSON object without a \"traceEvents\" array ({})", list(&tokenizer.keys)),
        };
        format!("a JSON object whose \"traceEvents\" is {is}, where an array of events should be")
    }

    /// Names an array in which no event has a phase.
    fn name_array(&self) -> String {
        let damage = ["bad_json", "event_too_deep", "event_too_large"];
        match self.rows.diagnostics.items().iter().find(|d| damage.contains(&d.code.as_str())) {
            Some(first) => {
                let at = first.byte_offset.unwrap_or(0);
                format!("an array of which no event can be read (the first at byte {at}: {})", first.first_example)
            }
            None => "a JSON array of something other than events (none has a \"ph\")".to_owned(),
        }
    }

    /// Checks that the text was a trace at all.
    fn check_kind(&self) -> Result<(), Refusal> {
        let not = |what: String| Err(not_a_profile(&what));
        let (events, phases) = (self.rows.builder.events(), self.rows.builder.phases());
        match self.tokenizer.form {
            Form::Unknown if !self.tokenizer.is_closed() => Err(empty()),
            Form::Unknown => not("not JSON".to_owned()),
            Form::Object if !self.tokenizer.found_events => not(self.name_object()),
            Form::Array if phases == 0 && (events > 0 || self.rows.diagnostics.count("element_not_object") > 0) => {
                not(self.name_array())
            }
            _ => Ok(()),
        }
    }
}

fn list(keys: &[String]) -> String {
    match keys {
        [] => "it has no keys".to_owned(),
        [..] => format!("its keys are {}", keys.iter().take(8).cloned().collect::<Vec<_>>().join(", ")),
    }
}

impl ChunkedReader for ChromeReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        self.bytes += chunk.len() as u64;
        self.tokenizer.push(chunk, &mut self.rows);
        self.limits.check(&self.rows.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        self.tokenizer.finish(&mut self.rows);
        self.check_kind()?;
        let mut rows = self.rows;
        if self.tokenizer.form == Form::Array {
            rows.builder.set_format(FORMAT_ARRAY);
        }
        if !self.tokenizer.is_closed() {
            rows.diagnostics.add("not_closed", Some(self.tokenizer.offset()), || {
                "the text ends before its last bracket: a trace that was cut off, or is still being written".to_owned()
            });
        }
        if rows.builder.events() == 0 {
            rows.diagnostics.add("no_events", None, || "the trace has no events".to_owned());
        }
        rows.stacks.resolve(&mut rows.builder, &mut rows.diagnostics);
        rows.memory.resolve(&mut rows.builder);
        rows.system.read(&mut rows.builder, &mut rows.diagnostics);
        samples::derive(&mut rows.builder, &mut rows.diagnostics, self.bytes);
        Ok(rows.builder.finish(rows.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.bytes, text_bytes: self.bytes, events: self.rows.builder.events() }
    }
}

impl EventSink for Rows {
    fn event(&mut self, event: &RawEvent<'_>, offset: u64) {
        if memchr::memchr(b'\\', event.name).is_some() && has_unescaped_path(event.name) {
            let what = "has a backslash that is not escaped, as in a path of Windows: unknown escapes are kept, \\n, \\t, \\b, \\f and \\r are read as control characters";
            self.event_note("unescaped_backslash", event, offset, what);
        }
        match event.ph {
            [b'"', phase @ .., b'"'] if !phase.is_empty() => self.phase(event, phase, offset),
            _ => self.without_phase(event, offset),
        }
    }

    fn member(&mut self, key: &[u8], value: &[u8], offset: u64) {
        let key = unescape(key);
        match key.as_ref() {
            "stackFrames" => self.stacks.read_frames(value),
            "samples" => self.stacks.read_samples(&mut self.builder, value),
            SYSTEM_TRACE => self.system.keep(value, offset, &mut self.builder, &mut self.diagnostics),
            _ => self.builder.set_property(&key, &String::from_utf8_lossy(value)),
        }
    }

    fn large_member(&mut self, key: &[u8], offset: u64) {
        self.diagnostics.add("member_too_large", Some(offset), || {
            format!("{:?} beside the events has more than {MAX_EVENT_BYTES} bytes: not read", unescape(key))
        });
    }

    fn broken(&mut self, why: Broken, offset: u64) {
        let (code, example) = match why {
            Broken::Json { byte, offset } => {
                ("bad_json", format!("not JSON: {:?} at byte {offset} is out of place", char::from(byte)))
            }
            Broken::TooDeep => ("event_too_deep", "brackets nest too deep".to_owned()),
            Broken::TooLarge => ("event_too_large", format!("one event has more than {MAX_EVENT_BYTES} bytes")),
            Broken::NotAnObject => ("element_not_object", "an element of the event array is not an object".to_owned()),
            Broken::Cut => ("event_cut", "the text ends inside an event".to_owned()),
            Broken::AfterEnd => ("trailing_text", "after the last bracket is text that is not a trace".to_owned()),
            Broken::Keys { byte } => {
                let byte = char::from(byte);
                (
                    "bad_json",
                    format!("not JSON: {byte:?} is out of place between the keys of the file, and what follows"),
                )
            }
            Broken::GaveUp => ("gave_up", "the text is so broken that nothing after this was read".to_owned()),
        };
        if matches!(why, Broken::Json { .. } | Broken::TooDeep | Broken::TooLarge) {
            self.builder.count_event(None);
        }
        self.diagnostics.add(code, Some(offset), || format!("{example}: skipped"));
    }
}

impl Rows {
    fn phase(&mut self, event: &RawEvent<'_>, phase: &[u8], offset: u64) {
        if phase == b"M" {
            return metadata::add(self, event, offset);
        }
        let track = self.tracks.find(&mut self.builder, event.pid, event.tid);
        let Some(ts) = self.time(event, offset) else {
            self.builder.note_track(track);
            self.builder.count_event(Some(&text_of(event.ph)));
            return;
        };
        match phase {
            b"X" => self.complete(event, track, ts, offset),
            b"B" => {
                let (name, category, args) = self.names(event);
                self.builder.begin(track, ts, name, category, args, offset);
            }
            b"E" => {
                let (name, _, args) = self.names(event);
                self.builder.end(track, ts, name, args, offset);
            }
            b"C" => {
                self.memory.note_counter(event);
                let Self { builder, diagnostics, series, .. } = self;
                counter::add(builder, diagnostics, series, event, track, ts, offset);
            }
            [b's' | b't' | b'f' | b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b'N' | b'O' | b'D'] => {
                self.link(event, phase[0], track, ts);
            }
            // The parts of a profile of V8 are joined by an id.
            b"P" if !event.id.is_empty() || !event.id2.is_empty() => self.link(event, b'P', track, ts),
            b"i" => {
                self.memory.note(&self.builder, event, track, ts);
                self.instant(event, b'i', track, ts);
            }
            // Memory dumps (V, v), contexts, and joined ids are kept as instants.
            [b'I' | b'R' | b'P' | b'V' | b'v' | b'(' | b')' | b'='] => self.instant(event, phase[0], track, ts),
            b"c" => {
                self.system.sync(event, ts);
                self.instant(event, b'c', track, ts);
            }
            &[byte] if byte.is_ascii_graphic() => {
                self.unknown_phase(event, offset);
                self.instant(event, byte, track, ts);
            }
            _ => {
                self.unknown_phase(event, offset);
                self.builder.note_track(track);
                self.builder.note_time(ts);
                self.builder.count_event(Some(&text_of(event.ph)));
                return;
            }
        }
        if !event.sf.is_empty() || !event.stack.is_empty() {
            self.stacks.note(&mut self.builder, phase[0], event.sf, event.stack);
        }
    }

    fn without_phase(&mut self, event: &RawEvent<'_>, offset: u64) {
        // XLA ends its lists with an empty object, which is not an event.
        if !event.has_members {
            return;
        }
        self.diagnostics.add("no_phase", Some(offset), || {
            format!("event \"{}\" has no \"ph\" that is text: skipped", shorten(&text_of(event.name)))
        });
        let track = self.tracks.find(&mut self.builder, event.pid, event.tid);
        self.builder.note_track(track);
        self.builder.count_event(None);
        if let Ok(ts) = us_text_to_ns(event.ts) {
            self.builder.note_time(ts);
        }
    }

    fn unknown_phase(&mut self, event: &RawEvent<'_>, offset: u64) {
        self.diagnostics.add("unknown_phase", Some(offset), || {
            format!("event \"{}\" has the unknown phase {}", shorten(&text_of(event.name)), text_of(event.ph))
        });
    }

    fn complete(&mut self, event: &RawEvent<'_>, track: TrackId, ts: i64, offset: u64) {
        let (name, category, args) = self.names(event);
        let dur = match crate::json::scan::number_bytes(event.dur) {
            [] | b"null" => {
                self.event_note("no_duration", event, offset, "has no \"dur\": shown with none");
                None
            }
            text => match us_text_to_ns(text) {
                Ok(dur) if dur < 0 => {
                    self.event_note("negative_duration", event, offset, "has a negative \"dur\": shown with none");
                    Some(0)
                }
                Ok(dur) => Some(dur),
                Err(_) => {
                    self.event_note("bad_duration", event, offset, "has a \"dur\" that is not a time: shown with none");
                    None
                }
            },
        };
        self.builder.slice_of(track, ts, dur, name, category, args);
    }

    fn instant(&mut self, event: &RawEvent<'_>, phase: u8, track: TrackId, ts: i64) {
        let (name, category, args) = self.names(event);
        let scope = match event.scope {
            [b'"', scope @ (b'g' | b'p' | b't'), b'"'] => *scope,
            _ => b' ',
        };
        self.builder.instant(track, ts, phase, scope, name, category, args);
    }

    fn link(&mut self, event: &RawEvent<'_>, phase: u8, track: TrackId, ts_ns: i64) {
        let (name, category, args) = self.names(event);
        let id = ids::link_value(&mut self.builder, event);
        let binds_enclosing = event.bp == b"\"e\"";
        self.builder.link(LinkEvent { track, ts_ns, phase, name, category, id, binds_enclosing, args });
    }

    fn names(&mut self, event: &RawEvent<'_>) -> (StrId, StrId, ArgsId) {
        let name = self.builder.intern(&text_of(event.name));
        let category = if event.cat.is_empty() { StrId::EMPTY } else { self.builder.intern(&text_of(event.cat)) };
        let args = match event.args {
            b"" | b"null" | b"{}" => ArgsId::NONE,
            json => self.builder.add_args(&String::from_utf8_lossy(json)),
        };
        (name, category, args)
    }

    fn time(&mut self, event: &RawEvent<'_>, offset: u64) -> Option<i64> {
        match us_text_to_ns(crate::json::scan::number_bytes(event.ts)) {
            Ok(ts) => return Some(ts),
            Err(_) if event.ts.is_empty() => self.event_note("no_time", event, offset, "has no \"ts\": skipped"),
            Err(TimeError::OutOfRange) => {
                self.event_note("time_out_of_range", event, offset, "has a \"ts\" beyond 146 years: skipped");
            }
            Err(TimeError::NotANumber) => {
                self.event_note("bad_time", event, offset, "has a \"ts\" that is not a number: skipped");
            }
        }
        None
    }

    pub(super) fn event_note(&mut self, code: &str, event: &RawEvent<'_>, offset: u64, what: &str) {
        self.diagnostics.add(code, Some(offset), || {
            format!("event \"{}\" (ph {}) {what}", shorten(&text_of(event.name)), text_of(event.ph))
        });
    }
}

/// The start of a name, for messages.
pub(super) fn shorten(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name.to_owned(),
    }
}
