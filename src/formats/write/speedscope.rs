//! speedscope's format: a profile of events for each thread, times in nanoseconds from the start of the profile.

use std::fmt::Write as _;

use super::lanes::{Change, lane_name, lanes, own_tracks};
use crate::json::{Doc, ObjectText, Value, push_json_str};
use ns_base::{FxHashMap, StrId};
use ns_profile::{ArgsId, Profile, SliceId};

pub(super) fn write(profile: &Profile) -> String {
    let mut frames = Frames { profile, place_of: FxHashMap::default(), json: Vec::new() };
    let mut profiles = Vec::new();
    for track in own_tracks(profile) {
        for (number, changes) in lanes(profile, track).into_iter().enumerate() {
            let process = profile.process_label(profile.tracks()[track].process);
            let name = format!("{process} / {}", lane_name(profile, track, number));
            profiles.push(evented(&name, &changes, profile.span_ns(), &mut frames));
        }
    }
    let mut out = String::from("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":");
    push_json_str(&mut out, &profile.meta().title);
    let _ = write!(
        out,
        ",\"exporter\":\"neuronscope\",\"shared\":{{\"frames\":[{}]}},\"profiles\":[\n{}\n]}}\n",
        frames.json.join(","),
        profiles.join(",\n")
    );
    out
}

/// A profile of events. Writing to a string cannot fail.
fn evented(name: &str, changes: &[Change], span_ns: i64, frames: &mut Frames<'_>) -> String {
    let mut out = String::from("{\"type\":\"evented\",\"name\":");
    push_json_str(&mut out, name);
    let _ = write!(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":{span_ns},\"events\":[");
    for (i, change) in changes.iter().enumerate() {
        let (letter, id, at) = match *change {
            Change::Open(id, at) => ('O', id, at),
            Change::Close(id, at) => ('C', id, at),
        };
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}{{\"type\":\"{letter}\",\"frame\":{},\"at\":{at}}}", frames.place(id));
    }
    out.push_str("]}");
    out
}

/// Frames by name and place in the source.
struct Frames<'a> {
    profile: &'a Profile,
    place_of: FxHashMap<(StrId, String), usize>,
    json: Vec<String>,
}

impl Frames<'_> {
    fn place(&mut self, id: SliceId) -> usize {
        let slices = self.profile.slices();
        let mut frame = ObjectText::default();
        let name = self.profile.str(slices.name(id));
        frame.text("name", if name.is_empty() { "(no name)" } else { name });
        self.source(slices.args(id), &mut frame);
        let json = frame.take();
        let next = self.json.len();
        let place = *self.place_of.entry((slices.name(id), json.clone())).or_insert(next);
        if place == next {
            self.json.push(json);
        }
        place
    }

    /// The place in the source, of frames that a sampling profiler took.
    fn source(&self, args: ArgsId, frame: &mut ObjectText) {
        let text = self.profile.args().get(args);
        if !text.starts_with("{\"file\":") && !text.starts_with("{\"line\":") {
            return;
        }
        let doc = Doc::new(text.as_bytes());
        let [file, line, column] = doc.root().fields(["file", "line", "column"]);
        frame.text("file", &file.and_then(Value::str).unwrap_or_default());
        for (key, value) in [("line", line), ("col", column)] {
            if let Some(number) = value.and_then(Value::i64) {
                frame.number(key, number);
            }
        }
    }
}
