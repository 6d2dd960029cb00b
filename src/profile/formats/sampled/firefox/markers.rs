//! Markers of a thread, on a track beside its samples.

use super::table::rows;
use super::{Names, Reader, object_args};
use crate::profile::formats::decimal::TimeUnit;
use crate::profile::formats::json::Value;
use crate::profile::{ArgsId, TrackId};

/// Phases of markers in newer formats.
const INSTANT: i64 = 0;
const INTERVAL: i64 = 1;
const START: i64 = 2;

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
    let columns = ["name", "startTime", "endTime", "phase", "category", "data", "time"];
    rows(Some(markers), columns, |_, [name, start, end, phase, category, data, time]| {
        let ns = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::Ms)).map(|t| t.saturating_add(shift_ns));
        let track = *track.get_or_insert_with(|| {
            builder.thread(process, &format!("{tid} markers"), &format!("{thread_name} markers"))
        });
        let (category, args) = (names.category(category), object_args(builder, data));
        let name_value = name;
        let name = builder.intern(&names.text(name));
        let offset = name_value.map_or(0, Value::offset);
        let (start, end) = (ns(start).or(ns(time)), ns(end));
        // Before phases there was one time, and the data said whether something starts or ends.
        let old = data.filter(|_| phase.is_none());
        let interval = old.and_then(|d| d.get("interval")).and_then(Value::str);
        // Some had both of their times in the data.
        let [from, to] = old.map_or([None; 2], |d| d.fields(["startTime", "endTime"]));
        let (start, end) = match (ns(from), ns(to)) {
            (Some(from), Some(to)) if end.is_none() => (Some(from), Some(to)),
            _ => (start, end),
        };
        match (phase.and_then(Value::i64), interval.as_deref(), start, end) {
            (Some(INTERVAL), _, Some(start), Some(end)) => {
                builder.slice_of(track, start, Some(end.saturating_sub(start)), name, category, args);
            }
            (Some(START), _, Some(start), _) | (None, Some("start"), Some(start), _) => {
                builder.begin(track, start, name, category, args, offset);
            }
            (Some(INSTANT), _, Some(at), _) => builder.instant(track, at, b'i', b't', name, category, args),
            (None, Some("end"), Some(at), _) => builder.end(track, at, name, ArgsId::NONE, offset),
            (Some(_), _, None, Some(at)) => builder.end(track, at, name, args, offset),
            (_, _, Some(start), Some(end)) => {
                builder.slice_of(track, start, Some(end.saturating_sub(start)), name, category, args);
            }
            (_, _, Some(at), None) | (_, _, None, Some(at)) => {
                builder.instant(track, at, b'i', b't', name, category, args)
            }
            (_, _, None, None) => builder.count_event(None),
        }
    });
}
