//! Samples among the events, as stacks on tracks beside the threads: the profiles of V8, which come in parts
//! (`Profile`, `ProfileChunk`) or whole (`CpuProfile`), and `P` events that have a stack.
//!
//! The events themselves are kept as they are; these tracks are made of them again whenever a file is read.

use std::hash::Hash;

use crate::decimal::TimeUnit;
use crate::json::{Doc, Value};
use crate::nodes::Nodes;
use crate::stacks::{StackFrame, StackTrack};
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::{Point, ProfileBuilder, TrackId, TrackKind};

/// Adds the tracks.
pub(super) fn derive(builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics, text_bytes: u64) {
    let Some(bounds) = builder.bounds() else { return };
    let mut points = builder.points(b'P');
    // A whole profile is an instant.
    points.extend(builder.points(b'I').into_iter().filter(|p| builder.text(p.name) == "CpuProfile"));
    // Samples are shown within the time of the other events, because some samples count from another time. Without other
    // events they keep their own times.
    let is_alone = builder.slice_count() == 0 && builder.point_count() == points.len();
    let (low, high) = if is_alone { (i64::MIN, i64::MAX) } else { bounds };
    let (mut samples, mut profiles) = (Groups::default(), Groups::default());
    for point in points {
        let text = builder.args_text(point.args);
        if text.contains("cpuProfile") || matches!(builder.text(point.name), "Profile" | "ProfileChunk") {
            // Ids are numbered within each process.
            profiles.add((builder.place_of(point.track).0, point.id), point);
        } else if text.contains("\"stack\":[") {
            samples.add(point.track, point);
        }
    }
    let most = builder.slice_count() + MOST_SLICES + text_bytes;
    for points in samples.groups {
        stacks_of_thread(builder, &points, high, most);
    }
    for points in profiles.groups {
        v8_profile(builder, &points, low, high, most);
    }
    if builder.slice_count() > most {
        diagnostics.add("samples_left_out", None, || {
            format!("samples make more than {most} slices, as no honest file has them: the rest is not shown")
        });
    }
}

/// Number of slices that samples may make in addition to the bytes of the text: more only come from hostile files.
const MOST_SLICES: u64 = 10_000_000;

/// Events in groups by the key that joins them, in order of appearance.
struct Groups<K> {
    place: FxHashMap<K, usize>,
    groups: Vec<Vec<Point>>,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self { place: FxHashMap::default(), groups: Vec::new() }
    }
}

impl<K: Eq + Hash> Groups<K> {
    fn add(&mut self, key: K, point: Point) {
        let place = *self.place.entry(key).or_insert(self.groups.len());
        match self.groups.get_mut(place) {
            Some(group) => group.push(point),
            None => self.groups.push(vec![point]),
        }
    }
}

fn samples_track(builder: &mut ProfileBuilder, thread: TrackId) -> TrackId {
    let (process, tid) = builder.place_of(thread);
    let name = match builder.track_name(thread) {
        "" => format!("Thread {tid} samples"),
        name => format!("{name} samples"),
    };
    let (tid, name) = (builder.intern(&format!("{tid} samples")), builder.intern(&name));
    builder.derived_track(process, TrackKind::Samples, tid, name)
}

/// A sample is assumed to last until the next one; the last sample lasts as long as the one before it.
fn stacks_of_thread(builder: &mut ProfileBuilder, points: &[Point], high: i64, most_slices: u64) {
    let Some(thread) = points.first().map(|p| p.track) else { return };
    let track = samples_track(builder, thread);
    let mut stack = StackTrack::new(track);
    let mut frames = Vec::new();
    for point in points {
        if builder.slice_count() > most_slices {
            break;
        }
        let text = builder.args_text(point.args).to_owned();
        let doc = Doc::new(text.as_bytes());
        frames.clear();
        for frame in doc.root().get("stack").into_iter().flat_map(Value::items) {
            let name = frame.get("name").unwrap_or(frame).scalar().unwrap_or_default();
            frames.push(StackFrame::of_name(builder.intern(&name)));
        }
        stack.set(builder, point.ts, &frames);
    }
    let last = points.last().map_or(0, |p| p.ts);
    let before = points.len().checked_sub(2).and_then(|i| points.get(i)).map_or(last, |p| p.ts);
    stack.finish(builder, last.saturating_add(last.saturating_sub(before)).min(high));
}

/// A profile of V8 whose parts are in order of time. Times are clamped to `low` and `high`.
fn v8_profile(builder: &mut ProfileBuilder, points: &[Point], low: i64, high: i64, most_slices: u64) {
    // The first part is on the sampled thread, the others are on the sampling thread.
    let Some(thread) = points.first().map(|p| p.track) else { return };
    let track = samples_track(builder, thread);
    let (mut nodes, mut stack) = (Nodes::default(), StackTrack::new(track));
    let (mut now, mut end) = (None, None);
    // A negative delta takes the clock back, not what is shown.
    let mut drawn_ns = low;
    for point in points {
        let text = builder.args_text(point.args).to_owned();
        let doc = Doc::new(text.as_bytes());
        let Some(data) = doc.root().get("data") else { continue };
        let [start, profile, deltas, ends] = data.fields(["startTime", "cpuProfile", "timeDeltas", "endTime"]);
        let us = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::Us));
        now = us(start).or(now);
        let Some(profile) = profile else { continue };
        let [list, samples, inner_deltas, inner_start, inner_end] =
            profile.fields(["nodes", "samples", "timeDeltas", "startTime", "endTime"]);
        end = us(ends).or(us(inner_end)).or(end);
        if let Some(list) = list {
            nodes.add_list(builder, list);
        }
        let mut at = us(inner_start).or(now).unwrap_or(point.ts);
        let mut deltas = deltas.or(inner_deltas).into_iter().flat_map(Value::items);
        for sample in samples.into_iter().flat_map(Value::items) {
            let delta = deltas.next().and_then(|d| d.ns(TimeUnit::Us)).unwrap_or(0);
            at = at.saturating_add(delta);
            if builder.slice_count() > most_slices {
                break;
            }
            if let Some(place) = sample.i64().and_then(|id| nodes.place(id)) {
                drawn_ns = at.clamp(drawn_ns, high.max(drawn_ns));
                nodes.set(builder, &mut stack, drawn_ns, place);
            }
        }
        now = Some(at);
    }
    let last = end.or(now).unwrap_or(low);
    stack.finish(builder, last.clamp(low, high));
}
