//! Timeline recordings of Safari's Web Inspector: the stacks that its JavaScript sampler took.

use super::frames::{bad_sample, check_slices};
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::stacks::{StackTrack, frame};
use ns_base::Diagnostics;
use ns_base::Refusal;
use ns_profile::ProfileBuilder;

/// Reads a whole recording.
pub(crate) fn read_safari(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let recording = doc.root().get("recording").unwrap_or(doc.root());
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("safari-recording"), Diagnostics::new());
    let [name, start, end, traces, durations] =
        recording.fields(["displayName", "startTime", "endTime", "sampleStackTraces", "sampleDurations"]);
    let process = builder.process("", &name.and_then(Value::str).unwrap_or_default());
    let track = builder.thread(process, "", "JavaScript");
    let mut stack = StackTrack::new(track);
    let mut durations = durations.into_iter().flat_map(Value::items);
    let seconds = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::S));
    let (mut open_until, mut frames) = (None, Vec::new());
    for sample in traces.into_iter().flat_map(Value::items) {
        let [at, list] = sample.fields(["timestamp", "stackFrames"]);
        builder.note_track(track);
        let Some(at) = seconds(at) else {
            builder.count_event(None);
            bad_sample(&mut diagnostics, Some(sample), "a sample has no time");
            continue;
        };
        builder.count_event(Some("P"));
        if let Some(until) = open_until.filter(|&until| until < at) {
            stack.set(&mut builder, until, &[]);
        }
        frames.clear();
        for f in list.into_iter().flat_map(Value::items) {
            let [name, url, line, col] = f.fields(["name", "url", "line", "column"]);
            let (name, url) = (name.and_then(Value::str).unwrap_or_default(), url.and_then(Value::str));
            let (line, col) = (line.and_then(Value::i64), col.and_then(Value::i64));
            frames.push(frame(&mut builder, &name, url.as_deref().unwrap_or_default(), line, col));
        }
        // The innermost frame comes first.
        frames.reverse();
        stack.set(&mut builder, at, &frames);
        open_until = Some(at.saturating_add(seconds(durations.next()).unwrap_or(0).max(0)));
        check_slices(&builder, text.len())?;
    }
    stack.finish(&mut builder, open_until.unwrap_or(0));
    for time in [seconds(start), seconds(end)].into_iter().flatten() {
        builder.note_time(time);
    }
    if traces.is_none() {
        diagnostics.add("no_samples", None, || "the recording has no samples of JavaScript".to_owned());
    }
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}
