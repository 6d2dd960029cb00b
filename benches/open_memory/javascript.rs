//! Profiles of V8 and of Firefox.

use std::fmt::Write as _;

use crate::TEXT_BYTES;
use crate::program::{Calls, FUNCTIONS, file, function, numbers};

pub fn cpuprofile() -> Vec<u8> {
    let (mut calls, mut samples, mut deltas) = (Calls::new(), Vec::new(), Vec::new());
    while samples.len() * 11 < TEXT_BYTES - (8 << 20) {
        samples.push(calls.sample() + 1);
        deltas.push(u64::from(calls.walk.delta_us()));
    }
    let mut children = vec![Vec::new(); calls.nodes.len()];
    for (i, &(_, parent)) in calls.nodes.iter().enumerate().skip(1) {
        children[parent].push(i as u64 + 1);
    }
    let mut text = String::from("{\"nodes\":[");
    for (i, &(f, _)) in calls.nodes.iter().enumerate() {
        let (comma, name) = if i == 0 { ("", "(root)".to_owned()) } else { (",", function(f)) };
        let _ = write!(
            text,
            "{comma}{{\"id\":{},\"callFrame\":{{\"functionName\":\"{name}\",\"scriptId\":\"{f}\",\"url\":\"{}\",\
             \"lineNumber\":{f},\"columnNumber\":3}},\"hitCount\":1,\"children\":[",
            i + 1,
            file(f)
        );
        numbers(&mut text, children[i].iter().copied());
        text.push_str("]}");
    }
    text.push_str("],\"startTime\":1000000,\"endTime\":1000001,\"samples\":[");
    numbers(&mut text, samples);
    text.push_str("],\"timeDeltas\":[");
    numbers(&mut text, deltas);
    text.push_str("]}");
    text.into_bytes()
}

/// Strings, frames and functions of a thread of Firefox, and its samples.
fn firefox_samples() -> (Calls, Vec<(u64, u64)>) {
    let (mut calls, mut samples, mut now) = (Calls::new(), Vec::new(), 0u64);
    while samples.len() * 22 < TEXT_BYTES {
        now += u64::from(calls.walk.delta_us());
        samples.push((calls.sample(), now));
    }
    (calls, samples)
}

fn strings(text: &mut String) {
    for i in 0..FUNCTIONS {
        let _ = write!(text, "{}\"{} ({}:{i})\"", if i > 0 { "," } else { "" }, function(i), file(i));
    }
}

pub fn firefox_columns() -> Vec<u8> {
    let (calls, samples) = firefox_samples();
    let mut text = String::from(
        "{\"meta\":{\"interval\":1,\"version\":27,\"preprocessedProfileVersion\":47,\"categories\":[{\"name\":\"Other\"}]},\
         \"libs\":[],\"threads\":[{\"name\":\"main\",\"pid\":1,\"tid\":1,\"stringArray\":[",
    );
    strings(&mut text);
    let column = |text: &mut String, key: &str, values: &mut dyn Iterator<Item = String>| {
        let _ = write!(text, "\"{key}\":[");
        for (i, value) in values.enumerate() {
            text.push_str(if i > 0 { "," } else { "" });
            text.push_str(&value);
        }
        text.push(']');
    };
    let n = FUNCTIONS;
    let _ = write!(text, "],\"funcTable\":{{\"length\":{n},");
    column(&mut text, "name", &mut (0..n).map(|i| i.to_string()));
    let _ = write!(text, "}},\"frameTable\":{{\"length\":{n},");
    column(&mut text, "func", &mut (0..n).map(|i| i.to_string()));
    let _ = write!(text, "}},\"stackTable\":{{\"length\":{},", calls.nodes.len());
    column(&mut text, "frame", &mut calls.nodes.iter().map(|n| n.0.to_string()));
    text.push(',');
    let prefix = |(i, n): (usize, &(u32, usize))| if i == 0 { "null".to_owned() } else { n.1.to_string() };
    column(&mut text, "prefix", &mut calls.nodes.iter().enumerate().map(prefix));
    let _ = write!(text, "}},\"samples\":{{\"length\":{},\"weightType\":\"samples\",", samples.len());
    column(&mut text, "stack", &mut samples.iter().map(|s| s.0.to_string()));
    text.push(',');
    column(&mut text, "time", &mut samples.iter().map(|s| format!("{}.{:03}", s.1 / 1000, s.1 % 1000)));
    text.push_str("}}]}");
    text.into_bytes()
}

pub fn firefox_rows() -> Vec<u8> {
    let (calls, samples) = firefox_samples();
    let mut text = String::from(
        "{\"meta\":{\"interval\":1,\"version\":24,\"startTime\":1,\"processType\":0},\"libs\":[],\"threads\":[{\"name\":\"main\",\"pid\":1,\"tid\":1,\
         \"stringTable\":[",
    );
    strings(&mut text);
    text.push_str("],\"frameTable\":{\"schema\":{\"location\":0},\"data\":[");
    for i in 0..FUNCTIONS {
        let _ = write!(text, "{}[{i}]", if i > 0 { "," } else { "" });
    }
    text.push_str("]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
    for (i, &(frame, prefix)) in calls.nodes.iter().enumerate() {
        let prefix = if i == 0 { "null".to_owned() } else { prefix.to_string() };
        let _ = write!(text, "{}[{prefix},{frame}]", if i > 0 { "," } else { "" });
    }
    text.push_str("]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[");
    for (i, &(stack, us)) in samples.iter().enumerate() {
        let _ = write!(text, "{}[{stack},{}.{:03},0]", if i > 0 { "," } else { "" }, us / 1000, us % 1000);
    }
    text.push_str("]}}]}");
    text.into_bytes()
}
