//! speedscope's own format: frames shared by profiles, which are lists of events or of samples.
//!
//! Schema: <https://www.speedscope.app/file-format-schema.json>.

use super::frames::{WeightUnit, bad_sample, check_slices, left_over};
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::stacks::{StackFrame, StackTrack, frame};
use ns_base::Diagnostics;
use ns_base::Refusal;
use ns_profile::{ProfileBuilder, TrackId};

/// Name of the format in summaries.
pub(crate) const FORMAT: &str = "speedscope";

/// Reads a whole file.
pub(crate) fn read_speedscope(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let [name, exporter, shared, profiles] = doc.root().fields(["name", "exporter", "shared", "profiles"]);
    let mut reader = Reader {
        builder: ProfileBuilder::new(FORMAT),
        diagnostics: Diagnostics::new(),
        frames: Vec::new(),
        counts: WeightUnit::Count,
    };
    let process_name = name.and_then(Value::str).unwrap_or_default();
    let process = reader.builder.process("", &process_name);
    if let Some(exporter) = exporter {
        reader.builder.set_property("exporter", &exporter.raw_text());
    }
    // The profiles of a file have one unit.
    let numbers = profiles.into_iter().flat_map(Value::items).flat_map(counted_numbers);
    reader.counts = WeightUnit::Count.of_counts(numbers);
    reader.read_frames(shared.and_then(|s| s.get("frames")));
    for (i, profile) in profiles.into_iter().flat_map(Value::items).enumerate() {
        let name = profile.get("name").and_then(Value::str).unwrap_or_default();
        let track = reader.builder.thread(process, &i.to_string(), &name);
        reader.profile(profile, track)?;
        check_slices(&reader.builder, text.len())?;
    }
    doc.report_damage(&mut reader.diagnostics);
    Ok(TextContent::of(reader.builder, reader.diagnostics))
}

/// The weights and times of a profile whose unit is no time.
fn counted_numbers(profile: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let [unit, weights, events, start, end] = profile.fields(["unit", "weights", "events", "startValue", "endValue"]);
    let is_counted = WeightUnit::from_name(&unit.and_then(Value::str).unwrap_or_default()) == WeightUnit::Count;
    let times = events.into_iter().flat_map(Value::items).filter_map(|event| event.get("at"));
    let all = weights.into_iter().flat_map(Value::items).chain(times).chain(start).chain(end);
    all.filter(move |_| is_counted)
}

struct Reader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    frames: Vec<StackFrame>,
    /// The unit of counts in this file.
    counts: WeightUnit,
}

impl Reader {
    fn read_frames(&mut self, frames: Option<Value<'_>>) {
        for f in frames.into_iter().flat_map(Value::items) {
            let [name, file, line, col] = f.fields(["name", "file", "line", "col"]);
            let (name, file) = (name.and_then(Value::str).unwrap_or_default(), file.and_then(Value::str));
            let (line, col) = (line.and_then(Value::i64), col.and_then(Value::i64));
            let frame = frame(&mut self.builder, &name, file.as_deref().unwrap_or_default(), line, col);
            self.frames.push(frame);
        }
    }

    fn profile(&mut self, profile: Value<'_>, track: TrackId) -> Result<(), Refusal> {
        let [kind, unit, start, end] = profile.fields(["type", "unit", "startValue", "endValue"]);
        let unit_name = unit.and_then(Value::str).unwrap_or_default();
        let unit = match WeightUnit::from_name(&unit_name) {
            WeightUnit::Count => self.counts,
            time => time,
        };
        unit.note(&unit_name, &mut self.builder, &mut self.diagnostics);
        let start_ns = start.and_then(|v| unit.ns(v)).unwrap_or(0);
        self.builder.note_time(start_ns);
        match kind.and_then(Value::str).as_deref() {
            Some("evented") => self.events(profile, track, unit),
            Some("sampled") => self.samples(profile, track, unit, start_ns),
            other => {
                let other = other.unwrap_or("none").to_owned();
                self.diagnostics.add("unknown_profile", Some(profile.offset()), || {
                    format!("a profile of the type {other:?} is not known: skipped")
                });
            }
        }
        if let Some(end_ns) = end.and_then(|v| unit.ns(v)) {
            self.builder.note_time(end_ns.max(start_ns));
        }
        Ok(())
    }

    fn events(&mut self, profile: Value<'_>, track: TrackId, unit: WeightUnit) {
        for event in profile.get("events").into_iter().flat_map(Value::items) {
            let [kind, at, frame] = event.fields(["type", "at", "frame"]);
            let frame = frame.and_then(Value::index).and_then(|i| self.frames.get(i)).copied();
            let (Some(at), Some(frame)) = (at.and_then(|v| unit.ns(v)), frame) else {
                self.builder.count_event(None);
                bad_sample(&mut self.diagnostics, Some(event), "an event has no time or names no frame");
                continue;
            };
            match kind.and_then(Value::str).as_deref() {
                Some("O") => self.builder.begin(track, at, frame.name, frame.category, frame.args, event.offset()),
                Some("C") => self.builder.end(track, at, frame.name, ns_profile::ArgsId::NONE, event.offset()),
                _ => {
                    self.builder.count_event(None);
                    bad_sample(&mut self.diagnostics, Some(event), "an event neither opens nor closes");
                }
            }
        }
    }

    fn samples(&mut self, profile: Value<'_>, track: TrackId, unit: WeightUnit, start_ns: i64) {
        let [samples, weights] = profile.fields(["samples", "weights"]);
        let mut weights = weights.into_iter().flat_map(Value::items);
        let (mut now, mut stack, mut frames) = (start_ns, StackTrack::new(track), Vec::new());
        for sample in samples.into_iter().flat_map(Value::items) {
            // A cut sample would be shown on a stack that never was.
            if sample.raw().is_empty() {
                break;
            }
            frames.clear();
            for frame in sample.items() {
                match frame.index().and_then(|i| self.frames.get(i)) {
                    Some(&frame) => frames.push(frame),
                    None => bad_sample(&mut self.diagnostics, Some(frame), "a sample names no frame"),
                }
            }
            self.builder.note_track(track);
            self.builder.count_event(Some("P"));
            stack.set(&mut self.builder, now, &frames);
            let weight = weights.next().and_then(|w| unit.ns(w));
            if weight.is_none_or(|w| w < 0) {
                bad_sample(&mut self.diagnostics, Some(sample), "a sample has no weight, or one below zero");
            }
            now = now.saturating_add(weight.unwrap_or(0).max(0));
        }
        left_over(&mut self.diagnostics, weights, "weights");
        stack.finish(&mut self.builder, now);
    }
}
