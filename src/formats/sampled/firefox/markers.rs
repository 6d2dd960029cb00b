//! Markers of a thread, on a track beside its samples.

use super::table::rows;
use super::{Names, Reader, object_args};
use crate::decimal::TimeUnit;
use crate::json::Value;
use ns_base::{FxHashMap, Order, StrId};
use ns_profile::{ArgsId, ProfileBuilder, TrackId};

/// Phases of markers in newer formats.
const INSTANT: i64 = 0;
const INTERVAL: i64 = 1;
const START: i64 = 2;
const END: i64 = 3;

/// The time of a marker, in ns.
#[derive(Clone, Copy)]
enum When {
    At(i64),
    Between(i64, i64),
    Starts(i64),
    Ends(i64),
}

/// A marker that has started, until a marker of its name ends.
struct OpenMarker {
    at: i64,
    category: StrId,
    args: ArgsId,
    offset: u64,
}

/// Adds the markers of a thread.
pub(super) fn read(
    reader: &mut Reader,
    markers: Value<'_>,
    names: &Names<'_>,
    thread: TrackId,
    thread_name: &str,
    shift_ns: i64,
) {
    let builder = &mut reader.builder;
    let (process, tid) = builder.place_of(thread);
    let mut track = None;
    // An end belongs to the last start of its name, regardless of other starts since.
    let mut open: FxHashMap<StrId, Vec<OpenMarker>> = FxHashMap::default();
    let columns = ["name", "startTime", "endTime", "phase", "category", "data", "time"];
    rows(Some(markers), columns, |_, [name, start, end, phase, category, data, time]| {
        let track = *track.get_or_insert_with(|| {
            builder.thread(process, &format!("{tid} markers"), &format!("{thread_name} markers"))
        });
        let (category, args) = (names.category(category), object_args(builder, data));
        let offset = name.map_or(0, Value::offset);
        let name = builder.intern(&names.text(name));
        match when([start.or(time), end], phase.and_then(Value::i64), data, shift_ns) {
            None => builder.count_event(None),
            Some(When::At(at)) => builder.instant(track, at, b'i', b't', name, category, args),
            Some(When::Between(start, end)) => {
                builder.slice_of(track, start, Some(end.saturating_sub(start)), name, category, args);
            }
            Some(When::Starts(at)) => open.entry(name).or_default().push(OpenMarker { at, category, args, offset }),
            Some(When::Ends(at)) => match open.get_mut(&name).and_then(Vec::pop) {
                Some(started) => finish(builder, track, name, &started, at, args),
                None => builder.end(track, at, name, args, offset),
            },
        }
    });
    if let Some(track) = track {
        let mut never_ended: Vec<(StrId, OpenMarker)> =
            open.into_iter().flat_map(|(name, all)| all.into_iter().map(move |s| (name, s))).collect();
        never_ended.order_by_key(|(_, s)| s.offset);
        for (name, OpenMarker { at, category, args, offset }) in never_ended {
            builder.begin(track, at, name, category, args, offset);
        }
    }
}

/// A slice from the events of a start and an end.
fn finish(builder: &mut ProfileBuilder, track: TrackId, name: StrId, started: &OpenMarker, end: i64, args: ArgsId) {
    let args = if started.args.is_none() { args } else { started.args };
    builder.derived_slice(track, started.at, end, name, started.category, args);
    builder.note_track(track);
    for phase in ["B", "E"] {
        builder.count_event(Some(phase));
    }
}

/// The time of a row.
fn when(times: [Option<Value<'_>>; 2], phase: Option<i64>, data: Option<Value<'_>>, shift_ns: i64) -> Option<When> {
    let ns = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::Ms)).map(|t| t.saturating_add(shift_ns));
    let (start, end) = (ns(times[0]), ns(times[1]));
    // A time that a phase does not use is null, or zero in Gecko's own files.
    match phase {
        Some(INSTANT) => return start.or(end).map(When::At),
        Some(START) => return start.map(When::Starts),
        Some(END) => return end.or(start).map(When::Ends),
        Some(INTERVAL) | None => {}
        Some(_) => return start.or(end).map(When::At),
    }
    // Before there were phases, a marker had one time, and the data said whether it starts or ends.
    let old = data.filter(|_| phase.is_none());
    let interval = old.and_then(|d| d.get("interval")).and_then(Value::str);
    match (interval.as_deref(), start) {
        (Some("start"), Some(at)) => return Some(When::Starts(at)),
        (Some("end"), Some(at)) => return Some(When::Ends(at)),
        _ => {}
    }
    // Some had both of their times in the data.
    let [from, to] = old.map_or([None; 2], |d| d.fields(["startTime", "endTime"]));
    match (start, end, ns(from), ns(to)) {
        (_, None, Some(from), Some(to)) => Some(When::Between(from, to)),
        (Some(start), Some(end), ..) => Some(When::Between(start, end)),
        (at, other, ..) => at.or(other).map(When::At),
    }
}
