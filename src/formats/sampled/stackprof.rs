//! stackprof (Ruby), as JSON: frames by id, and runs of samples as numbers in one list (`raw`).

use super::frames::{WeightUnit, bad_sample, check_slices};
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::stacks::{MAX_STACK, StackFrame, StackTrack, frame};
use ns_base::Refusal;
use ns_base::convert::usize_to_i64;
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::ProfileBuilder;

/// Reads a whole file.
pub(crate) fn read_stackprof(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("stackprof"), Diagnostics::new());
    let [mode, interval, frames, raw, deltas] =
        doc.root().fields(["mode", "interval", "frames", "raw", "raw_timestamp_deltas"]);
    let mode = mode.and_then(Value::str).unwrap_or_default();
    let process = builder.process("", "Ruby");
    let track = builder.thread(process, "", &format!("stackprof {mode}"));
    let (known, flat) = read_frames(&mut builder, frames);
    let interval_ns = interval.and_then(|v| v.ns(TimeUnit::Us)).unwrap_or(0).max(0);
    // For objects and other events there are no times between samples: each counts as one.
    let weight = match mode.as_ref() {
        "object" | "custom" => {
            WeightUnit::Count.note("samples", &mut builder, &mut diagnostics);
            1
        }
        _ => interval_ns,
    };
    let mut deltas = deltas.filter(|_| mode == "wall").map(|d| d.items());
    let (mut now, mut stack, mut runs) = (0i64, StackTrack::new(track), raw.into_iter().flat_map(Value::items));
    let mut open = Vec::new();
    while let Some(height) = runs.next() {
        open.clear();
        for id in runs.by_ref().take(height.index().unwrap_or(0)) {
            match id.scalar().and_then(|id| known.get(id.as_ref()).copied()) {
                Some(frame) if open.len() < MAX_STACK => open.push(frame),
                Some(_) => {}
                None => bad_sample(&mut diagnostics, Some(id), "a sample names no frame"),
            }
        }
        let Some(samples) = runs.next().and_then(Value::index) else {
            bad_sample(&mut diagnostics, Some(height), "the list of samples ends inside one");
            break;
        };
        stack.set(&mut builder, now, &open);
        builder.note_track(track);
        builder.count_events("P", samples as u64);
        let ns = match &mut deltas {
            Some(deltas) => deltas.take(samples).filter_map(|d| d.ns(TimeUnit::Us)).map(|d| d.max(0)).sum(),
            None => weight.saturating_mul(usize_to_i64(samples)),
        };
        now = now.saturating_add(ns);
        check_slices(&builder, text.len())?;
    }
    if raw.is_none() {
        diagnostics.add("no_stacks", None, || {
            "only sums by function were recorded (no \"raw\"): each is shown once, without its callers".to_owned()
        });
        for (frame, samples) in flat {
            stack.set(&mut builder, now, &[frame]);
            builder.note_track(track);
            builder.count_events("P", samples.cast_unsigned());
            now = now.saturating_add(weight.saturating_mul(samples));
        }
    }
    stack.finish(&mut builder, now);
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

type Flat = Vec<(StackFrame, i64)>;

/// Frames by id, and the number of samples in which each was on top.
fn read_frames(builder: &mut ProfileBuilder, frames: Option<Value<'_>>) -> (FxHashMap<String, StackFrame>, Flat) {
    let (mut known, mut flat) = (FxHashMap::default(), Vec::new());
    for (id, f) in frames.into_iter().flat_map(Value::members) {
        let [name, file, line, samples] = f.fields(["name", "file", "line", "samples"]);
        let (name, file) = (name.and_then(Value::str).unwrap_or_default(), file.and_then(Value::str));
        let line = line.and_then(Value::i64);
        let frame = frame(builder, &name, file.as_deref().unwrap_or_default(), line, None);
        known.insert(String::from_utf8_lossy(id).into_owned(), frame);
        flat.extend(samples.and_then(Value::i64).filter(|&n| n > 0).map(|n| (frame, n)));
    }
    (known, flat)
}
