//! Samples in the form before there were tables (until version 2): a list of objects that contain their frames. The
//! frames of the oldest files are numbers that refer to a table of symbols beside the profile.

use super::{Context, Reader, location_frame};
use crate::decimal::TimeUnit;
use crate::json::Value;
use crate::sampled::frames::bad_sample;
use crate::stacks::{StackFrame, StackTrack};
use ns_base::FxHashMap;
use ns_profile::TrackId;

/// The table of symbols: an object, or a list by position.
pub(super) fn symbols(table: Option<Value<'_>>) -> FxHashMap<String, String> {
    let text = |v: Value<'_>| v.scalar().unwrap_or_default().into_owned();
    let named = table.into_iter().flat_map(Value::members);
    let named = named.map(|(key, name)| (String::from_utf8_lossy(key).into_owned(), text(name)));
    let listed = table.into_iter().flat_map(Value::items).enumerate().map(|(i, name)| (i.to_string(), text(name)));
    named.chain(listed).collect()
}

/// Adds the samples of a file with a single list of samples.
pub(super) fn read_only(reader: &mut Reader, samples: Value<'_>, root: Value<'_>) {
    let process = reader.builder.process("", "");
    let track = reader.builder.thread(process, "", "Samples");
    let interval = root.get("meta").and_then(|m| m.get("interval")).and_then(|v| v.ns(TimeUnit::Ms));
    read_at(reader, samples, track, 0, interval.unwrap_or(0).max(0));
}

/// Adds the samples of a thread.
pub(super) fn read(reader: &mut Reader, samples: Value<'_>, track: TrackId, context: &Context<'_>) {
    read_at(reader, samples, track, context.shift_ns, context.interval_ns);
}

fn read_at(reader: &mut Reader, samples: Value<'_>, track: TrackId, shift_ns: i64, interval_ns: i64) {
    let (mut stack, mut frames, mut now) = (StackTrack::new(track), Vec::new(), None);
    for sample in samples.items() {
        let [list, time, extra] = sample.fields(["frames", "time", "extraInfo"]);
        let time = time.or_else(|| extra.and_then(|e| e.get("time"))).and_then(|v| v.ns(TimeUnit::Ms));
        let Some(time) = time else {
            reader.builder.count_event(None);
            bad_sample(&mut reader.diagnostics, Some(sample), "a sample has no time");
            continue;
        };
        let at = time.saturating_add(shift_ns).max(now.unwrap_or(i64::MIN));
        now = Some(at);
        reader.builder.count_event(Some("P"));
        reader.builder.note_track(track);
        reader.builder.note_time(at);
        frames.clear();
        for frame in list.into_iter().flat_map(Value::items) {
            frames.extend(frame_of(reader, frame));
        }
        stack.set(&mut reader.builder, at, &frames);
    }
    if let Some(now) = now {
        stack.finish(&mut reader.builder, now.saturating_add(interval_ns));
    }
}

/// A frame: its location, an object that has a location, or its number among the symbols. The common root is left out.
fn frame_of(reader: &mut Reader, frame: Value<'_>) -> Option<StackFrame> {
    let place = frame.get("location").unwrap_or(frame).scalar().unwrap_or_default();
    let place = reader.symbols.get(place.as_ref()).map_or(place.as_ref(), String::as_str);
    (place != "(root)").then(|| location_frame(&mut reader.builder, place))
}
