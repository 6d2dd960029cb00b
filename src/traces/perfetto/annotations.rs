//! Debug annotations as a JSON object.

use super::sequence::Sequence;
use crate::json::{ObjectText, push_json_str};
use ns_base::wire::{Fields, Wire};

/// How deep annotations may nest.
const MAX_DEPTH: u32 = 32;

/// Adds one annotation to the arguments of an event.
pub(super) fn add(args: &mut ObjectText, sequence: &Sequence, annotation: &[u8]) {
    let (name, json) = read(sequence, annotation, MAX_DEPTH);
    args.raw(&name, &json);
}

/// Name and value of an annotation.
fn read(sequence: &Sequence, annotation: &[u8], depth: u32) -> (String, String) {
    let (mut name, mut json) = (String::new(), String::from("null"));
    let (mut members, mut items) = (Vec::new(), Vec::new());
    let look = |table: &ns_base::FxHashMap<u64, String>, iid| table.get(&iid).cloned().unwrap_or_default();
    for (field, value) in Fields::of(annotation) {
        match field {
            1 => name = look(&sequence.annotation_names, value.u64()),
            10 => name = value.text().into_owned(),
            2 => json = (value.u64() != 0).to_string(),
            3 => json = value.u64().to_string(),
            4 => json = value.i64().to_string(),
            5 => json = number(value),
            6 => json = quoted(&value.text()),
            7 => json = quoted(&format!("0x{:x}", value.u64())),
            9 => json = value.text().into_owned(),
            17 => json = quoted(&look(&sequence.annotation_texts, value.u64())),
            11 if depth > 0 => members.push(read(sequence, value.bytes(), depth - 1)),
            12 if depth > 0 => items.push(read(sequence, value.bytes(), depth - 1).1),
            _ => {}
        }
    }
    if !members.is_empty() {
        let mut object = ObjectText::default();
        for (key, value) in members {
            object.raw(&key, &value);
        }
        json = object.take();
    } else if !items.is_empty() {
        json = format!("[{}]", items.join(","));
    }
    (name, json)
}

fn number(value: Wire<'_>) -> String {
    let x = value.f64();
    if x.is_finite() { format!("{x:?}") } else { quoted(&x.to_string()) }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_json_str(&mut out, text);
    out
}
