//! Metadata events: names, labels and order of processes and threads. They may come before or after the events.

use super::event::RawEvent;
use super::ids::id_text;
use super::reader::Rows;
use crate::json::scan::{Members, number_bytes, text_of};
use ns_profile::{MetadataRow, NeuronCoreId};

/// Name of the metadata event with the NeuronCore of a process; only our writer uses it.
pub const NEURON_CORE: &str = "neuron_core";

/// Name of the row that says when the profile began and ended, if no event does; used by our writer only.
pub const PROFILE_SPAN: &str = "profile_span";

/// Applies one metadata event.
pub(super) fn add(rows: &mut Rows, event: &RawEvent<'_>, offset: u64) {
    let builder = &mut rows.builder;
    if text_of(event.name) == PROFILE_SPAN {
        for time in [b"start_ns".as_slice(), b"end_ns"].iter().filter_map(|key| member(event.args, key)) {
            if let Some(ns) = integer(time) {
                builder.note_time(ns);
            }
        }
        return builder.count_event(Some("M"));
    }
    let process = builder.process(&id_text(event.pid), "");
    let name = text_of(event.name);
    let understood = match &*name {
        "process_name" => member(event.args, b"name").map(|v| {
            builder.process(&id_text(event.pid), &text_of(v));
        }),
        "process_labels" => member(event.args, b"labels").map(|v| builder.set_process_labels(process, &text_of(v))),
        "process_sort_index" => {
            member(event.args, b"sort_index").and_then(integer).map(|n| builder.set_process_sort_index(process, n))
        }
        NEURON_CORE => neuron_core(event.args).map(|core| builder.set_neuron_core(process, core)),
        "thread_name" => member(event.args, b"name").map(|v| {
            builder.thread(process, &id_text(event.tid), &text_of(v));
        }),
        "thread_sort_index" => member(event.args, b"sort_index").and_then(integer).map(|n| {
            let track = builder.thread(process, &id_text(event.tid), "");
            builder.set_track_sort_index(track, n);
        }),
        _ => {
            let (name, tid) = (builder.intern(&name), builder.intern(&id_text(event.tid)));
            let args = builder.add_args(&String::from_utf8_lossy(event.args));
            builder.metadata(MetadataRow { process, tid, name, args });
            return;
        }
    };
    builder.count_event(Some("M"));
    if understood.is_none() {
        rows.event_note("bad_metadata", event, offset, "has no value that fits its name: ignored");
    }
}

/// The value of a key of an object.
fn member<'a>(object: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if !object.starts_with(b"{") {
        return None;
    }
    let mut members = Members::new(object, 0);
    while let Ok(Some((key, value))) = members.next_member() {
        if key == wanted {
            return Some(value);
        }
    }
    None
}

fn integer(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(number_bytes(value)).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    #[allow(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    text.parse::<f64>().ok().filter(|x| x.is_finite()).map(|x| x as i64)
}

fn neuron_core(args: &[u8]) -> Option<NeuronCoreId> {
    let number = |key| member(args, key).and_then(integer).and_then(|n| u32::try_from(n).ok());
    Some(NeuronCoreId { device: number(b"device")?, core: number(b"core")? })
}
