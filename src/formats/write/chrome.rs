//! Writes a profile as a Chrome trace: reading it again gives the same profile.

use std::fmt::{self, Write};

use crate::json::{Doc, push_json_str};
use ns_base::StrId;
use ns_profile::neuron::START_PROPERTY;
use ns_profile::{ArgsId, InstantId, LinkId, LinkValue, ProcessId, Profile, SeriesId, SliceFlags, SliceId, TrackId};
use ns_traces::chrome::metadata::{NEURON_CORE, PROFILE_SPAN};

/// Writes the object form, event by event. Times are decimal microseconds on the source's clock, with three digits.
///
/// Slices are written as `X` events (as a `B` without an `E` when they never ended), so a file of `B`/`E` pairs becomes
/// smaller with the same content.
///
/// # Errors
/// When `out` fails.
pub fn write_chrome_trace<W: Write>(profile: &Profile, out: &mut W) -> fmt::Result {
    let mut writer = Writer { profile, out, first: true, line: String::new(), origin_ns: profile.meta().origin_ns };
    writer.properties(None)?;
    writer.events()
}

/// Writes the timeline in the form of the Neuron plugin: times count from the start of the profile, which is in
/// `neuronStartTimestampNs`. A file that already names its start keeps that start and its own times, so that reading and
/// writing do not change it.
pub(crate) fn write_plugin_trace(profile: &Profile) -> String {
    let mut out = String::new();
    let has_start = profile.meta().properties.iter().any(|(key, json)| key == START_PROPERTY && is_json(json));
    let (origin_ns, start) =
        if has_start { (profile.meta().origin_ns, None) } else { (0, Some(profile.meta().origin_ns)) };
    let mut writer = Writer { profile, out: &mut out, first: true, line: String::new(), origin_ns };
    // Writing to a String cannot fail.
    let _ = writer.properties(start).and_then(|()| writer.events());
    out
}

/// The start that a file of the Neuron plugin names, in ns since 1970.
pub(crate) fn neuron_start_ns(profile: &Profile) -> Option<i64> {
    let (_, json) = profile.meta().properties.iter().find(|(key, _)| key == START_PROPERTY)?;
    json.trim_matches('"').parse().ok()
}

/// Start of the profile on the clock of its source, in ns. Files of the Neuron plugin count from a start that they name.
pub(crate) fn source_start_ns(profile: &Profile) -> i64 {
    let named = profile.plugin_run().and_then(|_| neuron_start_ns(profile)).unwrap_or(0);
    profile.meta().origin_ns.saturating_add(named)
}

/// Whether an argument is valid JSON. A lenient reader accepts more, and the output must be readable for everyone.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

impl<W: Write> Writer<'_, W> {
    /// All events, and the end of the object.
    fn events(&mut self) -> fmt::Result {
        let profile = self.profile;
        let writer = self;
        writer.metadata()?;
        writer.span()?;
        for (track, _) in profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own()) {
            for id in profile.slices().of_track(track) {
                writer.slice(id)?;
            }
        }
        for id in profile.instants().ids() {
            writer.instant(id)?;
        }
        for id in profile.links().ids() {
            writer.link(id)?;
        }
        for id in profile.counters().series().ids() {
            writer.series(id)?;
        }
        writer.out.write_str("\n]}\n")
    }
}

/// [`write_chrome_trace`] into a string.
pub fn write_to_string(profile: &Profile) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_chrome_trace(profile, &mut out);
    out
}

struct Writer<'a, W> {
    profile: &'a Profile,
    out: &'a mut W,
    first: bool,
    line: String,
    /// The offset that is added to every time.
    origin_ns: i64,
}

impl<W: Write> Writer<'_, W> {
    /// Opens the object, with what the file said about itself.
    fn properties(&mut self, neuron_start_ns: Option<i64>) -> fmt::Result {
        self.out.write_str("{")?;
        let properties = &self.profile.meta().properties;
        if !properties.iter().any(|(key, json)| key == "displayTimeUnit" && is_json(json)) {
            self.out.write_str("\"displayTimeUnit\":\"ns\",")?;
        }
        if let Some(start) = neuron_start_ns {
            write!(self.out, "\"{START_PROPERTY}\":{start},")?;
        }
        for (key, json) in properties.iter().filter(|(key, _)| neuron_start_ns.is_none() || key != START_PROPERTY) {
            if key != "traceEvents" && is_json(json) {
                push_json_str(&mut self.line, key);
                write!(self.out, "{}:{json},", self.line)?;
                self.line.clear();
            }
        }
        self.out.write_str("\"traceEvents\":[")
    }

    /// Begins an event of a process; [`Self::end_line`] ends it.
    fn begin(&mut self, phase: char, process: ProcessId) {
        self.line.push_str("{\"ph\":");
        push_json_str(&mut self.line, phase.encode_utf8(&mut [0; 4]));
        let pid = self.profile.processes()[process].pid;
        self.id_member("pid", self.profile.str(pid));
    }

    fn begin_on(&mut self, phase: char, track: TrackId) {
        let track = &self.profile.tracks()[track];
        self.begin(phase, track.process);
        self.id_member("tid", self.profile.str(track.tid));
    }

    /// A pid or tid: as a number if it is one, absent if the source had none.
    fn id_member(&mut self, key: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.key(key);
        if text.parse::<i64>().is_ok_and(|n| n.to_string() == text) {
            self.line.push_str(text);
        } else {
            push_json_str(&mut self.line, text);
        }
    }

    /// An id with its scope: as `id2`, or as an id beside its scope.
    fn id_object(&mut self, text: &str) {
        let doc = Doc::new(text.as_bytes());
        let known = |key| doc.root().get(key).filter(|value| !value.is_null()).map(|value| value.raw_text());
        let (id, reach) = (known("id"), ["local", "global"].into_iter().find_map(|key| Some((key, known(key)?))));
        let scope = known("scope").filter(|_| id.is_some() || reach.is_some());
        let Some(scope) = scope else {
            self.key("id2");
            return self.line.push_str(text);
        };
        let _ = write!(self.line, ",\"scope\":{scope}");
        let _ = match (id, reach) {
            (Some(id), _) => write!(self.line, ",\"id\":{id}"),
            (None, Some((key, value))) => write!(self.line, ",\"id2\":{{\"{key}\":{value}}}"),
            (None, None) => Ok(()),
        };
    }

    fn key(&mut self, key: &str) {
        let _ = write!(self.line, ",\"{key}\":");
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        push_json_str(&mut self.line, text);
    }

    fn name(&mut self, key: &str, id: StrId) {
        if id != StrId::EMPTY {
            self.text(key, self.profile.str(id));
        }
    }

    fn time(&mut self, key: &str, ns: i64) {
        self.key(key);
        let sign = if ns < 0 { "-" } else { "" };
        let (us, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
        let _ = write!(self.line, "{sign}{us}.{rest:03}");
    }

    fn ts(&mut self, relative_ns: i64) {
        self.time("ts", relative_ns.saturating_add(self.origin_ns));
    }

    fn args(&mut self, id: ArgsId) {
        if id.is_none() {
            return;
        }
        let json = self.profile.args().get(id);
        self.key("args");
        // A lenient reader accepts NaN and control characters; they must not make the output unreadable.
        if is_json(json) {
            self.line.push_str(json);
        } else {
            self.line.push_str("{\"raw\":");
            push_json_str(&mut self.line, json);
            self.line.push('}');
        }
    }

    fn end_line(&mut self) -> fmt::Result {
        self.out.write_str(if self.first { "\n" } else { ",\n" })?;
        self.first = false;
        self.line.push('}');
        self.out.write_str(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn metadata(&mut self) -> fmt::Result {
        let profile = self.profile;
        for (id, process) in profile.processes().iter_enumerated() {
            if process.name != StrId::EMPTY {
                self.begin('M', id);
                self.text("name", "process_name");
                self.text_args("name", profile.str(process.name))?;
            }
            if process.labels != StrId::EMPTY {
                self.begin('M', id);
                self.text("name", "process_labels");
                self.text_args("labels", profile.str(process.labels))?;
            }
            if let Some(core) = process.neuron_core {
                self.begin('M', id);
                self.text("name", NEURON_CORE);
                let _ = write!(self.line, ",\"args\":{{\"device\":{},\"core\":{}}}", core.device, core.core);
                self.end_line()?;
            }
            self.begin('M', id);
            self.text("name", "process_sort_index");
            self.sort_index(process.sort_index)?;
        }
        for (id, track) in profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own()) {
            if track.name != StrId::EMPTY {
                self.begin_on('M', id);
                self.text("name", "thread_name");
                self.text_args("name", profile.str(track.name))?;
            }
            self.begin_on('M', id);
            self.text("name", "thread_sort_index");
            self.sort_index(track.sort_index)?;
        }
        for row in profile.metadata() {
            self.begin('M', row.process);
            self.id_member("tid", profile.str(row.tid));
            self.text("name", profile.str(row.name));
            self.args(row.args);
            self.end_line()?;
        }
        Ok(())
    }

    /// The span of the profile, if it is longer than the span of the events.
    fn span(&mut self) -> fmt::Result {
        let profile = self.profile;
        let (slices, counters) = (profile.slices(), profile.counters());
        let own = profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own());
        let own = own.flat_map(|(track, _)| slices.of_track(track));
        let ends = |id| {
            // A slice that never ended, or has no duration, ends where it began.
            let flags = slices.flags(id);
            let open = flags.has(SliceFlags::UNCLOSED) || flags.has(SliceFlags::NO_DURATION);
            (slices.start(id).0, if open { slices.start(id).0 } else { slices.end(id).0 })
        };
        let instants = profile.instants().ids().map(|id| profile.instants().ts(id).0);
        let links = profile.links().ids().map(|id| profile.links().ts(id).0);
        let samples = counters.series().ids().flat_map(|id| counters.samples(id).map(|(ts, _)| ts.0));
        let points = instants.chain(links).chain(samples).map(|ts| (ts, ts));
        let said = own.map(ends).chain(points).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let span = profile.span();
        if said == Some((span.start.0, span.end.0)) || said.is_none() && profile.span_ns() == 0 {
            return Ok(());
        }
        let origin = self.origin_ns;
        let (start, end) = (span.start.0.saturating_add(origin), span.end.0.saturating_add(origin));
        self.line.push_str("{\"ph\":\"M\"");
        self.text("name", PROFILE_SPAN);
        let _ = write!(self.line, ",\"args\":{{\"start_ns\":{start},\"end_ns\":{end}}}");
        self.end_line()
    }

    fn text_args(&mut self, key: &str, text: &str) -> fmt::Result {
        let _ = write!(self.line, ",\"args\":{{\"{key}\":");
        push_json_str(&mut self.line, text);
        self.line.push('}');
        self.end_line()
    }

    fn sort_index(&mut self, index: i64) -> fmt::Result {
        let _ = write!(self.line, ",\"args\":{{\"sort_index\":{index}}}");
        self.end_line()
    }

    fn slice(&mut self, id: SliceId) -> fmt::Result {
        let slices = self.profile.slices();
        let flags = slices.flags(id);
        let unclosed = flags.has(SliceFlags::UNCLOSED);
        self.begin_on(if unclosed { 'B' } else { 'X' }, slices.track(id));
        self.ts(slices.start(id).0);
        if !unclosed && !flags.has(SliceFlags::NO_DURATION) {
            self.time("dur", slices.dur_ns(id));
        }
        self.name("name", slices.name(id));
        self.name("cat", slices.category(id));
        self.args(slices.args(id));
        self.end_line()
    }

    fn instant(&mut self, id: InstantId) -> fmt::Result {
        let instants = self.profile.instants();
        self.begin_on(instants.phase(id), instants.track(id));
        self.ts(instants.ts(id).0);
        let scope = instants.scope(id);
        if scope != ' ' {
            self.text("s", scope.encode_utf8(&mut [0; 4]));
        }
        self.name("name", instants.name(id));
        self.name("cat", instants.category(id));
        self.args(instants.args(id));
        self.end_line()
    }

    fn link(&mut self, id: LinkId) -> fmt::Result {
        let links = self.profile.links();
        self.begin_on(links.phase(id), links.track(id));
        self.ts(links.ts(id).0);
        self.name("name", links.name(id));
        self.name("cat", links.category(id));
        match links.id(id) {
            LinkValue::None => {}
            LinkValue::Number(n) => {
                let _ = write!(self.line, ",\"id\":{n}");
            }
            LinkValue::Hex(n) => {
                let _ = write!(self.line, ",\"id\":\"0x{n:x}\"");
            }
            LinkValue::Text(text) => {
                let text = self.profile.str(text);
                let is_id2 = text.starts_with('{') && is_json(text);
                if is_id2 {
                    self.id_object(text);
                } else {
                    self.text("id", text);
                }
            }
        }
        if links.binds_enclosing(id) {
            self.text("bp", "e");
        }
        self.args(links.args(id));
        self.end_line()
    }

    fn series(&mut self, id: SeriesId) -> fmt::Result {
        let counters = self.profile.counters();
        let series = &counters.series()[id];
        let counter = &counters.counters()[series.counter];
        for (ts, value) in counters.samples(id) {
            self.begin_on('C', counter.track);
            self.ts(ts.0);
            self.name("name", counter.name);
            self.name("id", counter.id);
            self.line.push_str(",\"args\":{");
            push_json_str(&mut self.line, self.profile.str(series.key));
            let quote = if value.is_finite() { "" } else { "\"" };
            let _ = write!(self.line, ":{quote}{value:?}{quote}}}");
            self.end_line()?;
        }
        Ok(())
    }
}
