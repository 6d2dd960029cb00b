//! Stacks that events name by number (`sf`) in the frames of the file (`stackFrames`), or have with them (`stack`).
//! They become the argument `stack`, outermost frame first.

use crate::json::scan::text_of;
use crate::json::{Doc, Value, push_json_str};
use crate::stacks::MAX_STACK;
use ns_base::{Diagnostics, FxHashMap, StrId};
use ns_profile::{ArgsId, ProfileBuilder, Row};

/// Memory for the stacks of events, in addition to twice the memory of the events themselves.
const MOST_STACK_BYTES: usize = 64 << 20;

/// Frames, and the events that name them. Either may come first.
#[derive(Default)]
pub(super) struct Stacks {
    frames: FxHashMap<String, Frame>,
    pending: Vec<(Row, StrId)>,
}

struct Frame {
    name: String,
    parent: Option<String>,
}

/// The event of a phase that was added last.
fn last_row(builder: &ProfileBuilder, phase: u8) -> Option<Row> {
    let (instant, link) = (builder.last_instant(), builder.last_link());
    match phase {
        b'X' | b'B' => builder.last_slice(),
        b'E' | b'C' | b'M' => None,
        b'i' | b'I' => instant.map(|(row, _)| row),
        // A sample with an id is a link.
        b'P' if instant.is_some_and(|(_, phase)| phase == b'P') => instant.map(|(row, _)| row),
        _ => link.filter(|(_, of_link)| *of_link == phase).or(instant).map(|(row, _)| row),
    }
}

impl Stacks {
    /// Takes `stackFrames`: an object of frames by number.
    pub fn read_frames(&mut self, json: &[u8]) {
        let doc = Doc::new(json);
        for (id, frame) in doc.root().members() {
            let [name, category, parent] = frame.fields(["name", "category", "parent"]);
            let name = name.or(category).and_then(Value::scalar).unwrap_or_default().into_owned();
            let parent = parent.and_then(Value::scalar).map(|p| p.into_owned());
            self.frames.insert(String::from_utf8_lossy(id).into_owned(), Frame { name, parent });
        }
    }

    /// Takes `samples`: stacks beside the events, each with a time, a processor, a thread and a weight.
    pub fn read_samples(&mut self, builder: &mut ProfileBuilder, json: &[u8]) {
        use crate::decimal::TimeUnit;
        let doc = Doc::new(json);
        for sample in doc.root().items() {
            let [ts, tid, name, sf, cpu] = sample.fields(["ts", "tid", "name", "sf", "cpu"]);
            let Some(ts) = ts.and_then(|v| v.ns(TimeUnit::Us)) else { continue };
            let process = builder.process("samples", "Samples");
            let tid = tid.or(cpu).and_then(Value::scalar).unwrap_or_default();
            let track = builder.thread(process, &tid, "");
            let name = builder.intern(&name.and_then(Value::scalar).unwrap_or_default());
            builder.instant(track, ts, b'P', b' ', name, StrId::EMPTY, ArgsId::NONE);
            if let (Some((row, _)), Some(sf)) = (builder.last_instant(), sf.and_then(Value::scalar)) {
                self.pending.push((row, builder.intern(&sf)));
            }
        }
    }

    /// Notes the stack of the event that was added last.
    pub fn note(&mut self, builder: &mut ProfileBuilder, phase: u8, sf: &[u8], stack: &[u8]) {
        let Some(row) = last_row(builder, phase) else { return };
        if stack.starts_with(b"[") {
            let stack = builder.add_args(&format!("{{\"stack\":{}}}", String::from_utf8_lossy(stack)));
            builder.join_args(row, stack);
        } else if !sf.is_empty() {
            let sf = builder.intern(&text_of(sf));
            self.pending.push((row, sf));
        }
    }

    /// Gives the events their stacks, or the numbers of the stacks if these would take more memory than an honest file needs.
    pub fn resolve(&mut self, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics) {
        let mut known: FxHashMap<StrId, ArgsId> = FxHashMap::default();
        let most = builder.bytes().saturating_mul(2).saturating_add(MOST_STACK_BYTES);
        for (row, sf) in self.pending.drain(..) {
            if builder.bytes() > most {
                diagnostics.add("stacks_left_out", None, || {
                    format!("the stacks of events take more than {MOST_STACK_BYTES} bytes: the rest have their numbers")
                });
                let mut json = String::from("{\"sf\":");
                push_json_str(&mut json, builder.text(sf));
                json.push('}');
                let number = builder.add_args(&json);
                builder.join_args(row, number);
                continue;
            }
            let stack = match known.get(&sf) {
                Some(&stack) => stack,
                None => {
                    let stack = builder.add_args(&stack_json(&self.frames, builder.text(sf)));
                    known.insert(sf, stack);
                    stack
                }
            };
            builder.join_args(row, stack);
        }
    }
}

/// The argument for a frame and the frames below it; the number of the frame if it is unknown.
fn stack_json(frames: &FxHashMap<String, Frame>, leaf: &str) -> String {
    let (mut names, mut at) = (Vec::new(), frames.get(leaf));
    while let Some(frame) = at.filter(|_| names.len() < MAX_STACK) {
        names.push(frame.name.as_str());
        at = frame.parent.as_ref().and_then(|p| frames.get(p));
    }
    let mut json = String::from("{\"stack\":[");
    for (i, name) in names.iter().rev().enumerate() {
        if i > 0 {
            json.push(',');
        }
        push_json_str(&mut json, name);
    }
    if names.is_empty() {
        json = String::from("{\"sf\":");
        push_json_str(&mut json, leaf);
        json.push('}');
        return json;
    }
    json.push_str("]}");
    json
}
