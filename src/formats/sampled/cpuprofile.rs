//! V8's CPU profiles (`.cpuprofile`) and sampled heap profiles (`.heapprofile`).
//!
//! Newer files have a list of nodes, the node of each sample and the time between samples; old ones a tree of nodes
//! (`head`). Times are microseconds.

use super::frames::{WeightUnit, bad_sample, check_slices, left_over};
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::nodes::Nodes;
use crate::stacks::StackTrack;
use ns_base::{Diagnostics, Refusal};
use ns_profile::{ProfileBuilder, TrackId};

/// Reads a whole `.cpuprofile`.
pub(crate) fn read_cpuprofile(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("cpuprofile"), Diagnostics::new());
    let process = builder.process("", "JavaScript");
    let track = builder.thread(process, "", "CPU profile");
    let mut nodes = Nodes::default();
    let [list, head] = doc.root().fields(["nodes", "head"]);
    match (list, head) {
        (Some(list), _) => nodes.add_list(&mut builder, list),
        (None, Some(head)) => nodes.add_tree(&mut builder, head, |_, _| {}),
        (None, None) => {}
    }
    let samples = Samples::of(doc.root());
    if samples.is_none() {
        samples.write_hits(&mut builder, &mut diagnostics, track, &mut nodes);
    } else {
        samples.write(&mut builder, &mut diagnostics, track, &mut nodes, text.len())?;
    }
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

/// The samples of a profile.
struct Samples<'a> {
    start_ns: i64,
    end_ns: Option<i64>,
    nodes: Option<Value<'a>>,
    deltas: Option<Value<'a>>,
    timestamps: Option<Value<'a>>,
}

impl<'a> Samples<'a> {
    fn of(root: Value<'a>) -> Self {
        let [start, end, nodes, deltas, timestamps] =
            root.fields(["startTime", "endTime", "samples", "timeDeltas", "timestamps"]);
        // Old files have the ends in seconds and a time for each sample in microseconds.
        let unit = if deltas.is_some() || timestamps.is_none() { TimeUnit::Us } else { TimeUnit::S };
        let ns = |v: Option<Value<'_>>| v.and_then(|v| v.ns(unit));
        let start_ns = if timestamps.is_some() && deltas.is_none() { None } else { ns(start) };
        Self { start_ns: start_ns.unwrap_or(0), end_ns: ns(end), nodes, deltas, timestamps }
    }

    /// Whether the file has no samples.
    fn is_none(&self) -> bool {
        self.nodes.and_then(|list| list.items().next()).is_none()
    }

    /// For a file that recorded only how often each node was on top: each node is shown once, for its share of the time.
    fn write_hits(
        self,
        builder: &mut ProfileBuilder,
        diagnostics: &mut Diagnostics,
        track: TrackId,
        nodes: &mut Nodes,
    ) {
        let hits = nodes.take_hits();
        let all: i128 = hits.iter().map(|(_, n)| i128::from(*n)).sum();
        let span = self.end_ns.map_or(0, |end| end.saturating_sub(self.start_ns)).max(0);
        let (mut stack, mut before) = (StackTrack::new(track), 0i128);
        for (place, n) in hits {
            builder.count_events("P", n.cast_unsigned());
            builder.note_track(track);
            // Without times a sample is one nanosecond.
            let passed = if span > 0 { i128::from(span) * before / all } else { before };
            nodes.set(builder, &mut stack, self.start_ns.saturating_add(clamped(passed)), place);
            before += i128::from(n);
        }
        let passed = if span > 0 { span } else { clamped(before) };
        stack.finish(builder, self.start_ns.saturating_add(passed));
        builder.note_time(self.start_ns);
        builder.note_time(self.start_ns.saturating_add(passed));
        if all > 0 {
            diagnostics.add("no_samples", None, || {
                "the file records only how often each function was seen, not when: each is shown once, for its share of the time"
                    .to_owned()
            });
        }
    }

    /// The first delta is the time from the start to the first sample; a stack runs to the next sample, the last one to the end.
    fn write(
        self,
        builder: &mut ProfileBuilder,
        diagnostics: &mut Diagnostics,
        track: TrackId,
        nodes: &mut Nodes,
        text_bytes: usize,
    ) -> Result<(), Refusal> {
        let is_absolute = self.deltas.is_none();
        let mut times = self.deltas.or(self.timestamps).into_iter().flat_map(Value::items);
        // The clock of the deltas goes back where one is negative; what is shown does not.
        let (mut clock, mut now, mut stack) = (self.start_ns, self.start_ns, StackTrack::new(track));
        builder.note_time(now);
        for sample in self.nodes.into_iter().flat_map(Value::items) {
            let time = times.next().and_then(|t| t.ns(TimeUnit::Us));
            let place = sample.i64().and_then(|id| nodes.place(id));
            builder.note_track(track);
            let (Some(time), Some(place)) = (time, place) else {
                builder.count_event(None);
                bad_sample(diagnostics, Some(sample), "a sample has no time or names no node");
                continue;
            };
            builder.count_event(Some("P"));
            clock = if is_absolute { time } else { clock.saturating_add(time) };
            if clock < now {
                diagnostics.add("time_backwards", Some(sample.offset()), || {
                    "a sample is before the one in front of it: taken as at the same time".to_owned()
                });
            }
            now = clock.max(now);
            nodes.set(builder, &mut stack, now, place);
            check_slices(builder, text_bytes)?;
        }
        left_over(diagnostics, times, "times");
        let end = self.end_ns.unwrap_or(now).max(now);
        stack.finish(builder, end);
        builder.note_time(end);
        Ok(())
    }
}

fn clamped(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Reads a whole `.heapprofile`: bytes allocated in each function, as lengths.
pub(crate) fn read_heapprofile(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("heapprofile"), Diagnostics::new());
    let process = builder.process("", "JavaScript");
    let track = builder.thread(process, "", "Sampled heap");
    let (mut nodes, mut sizes) = (Nodes::default(), Vec::new());
    if let Some(head) = doc.root().get("head") {
        nodes.add_tree(&mut builder, head, |node, place| {
            let size = node.get("selfSize").and_then(Value::i64).unwrap_or(0);
            sizes.push((place, size.max(0)));
        });
    }
    let (mut now, mut stack) = (0i64, StackTrack::new(track));
    for (place, size) in sizes.into_iter().filter(|(_, size)| *size > 0) {
        builder.count_event(Some("P"));
        builder.note_track(track);
        nodes.set(&mut builder, &mut stack, now, place);
        now = now.saturating_add(size);
    }
    stack.finish(&mut builder, now);
    WeightUnit::Count.note("bytes", &mut builder, &mut diagnostics);
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}
