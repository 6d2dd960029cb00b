//! Collapsed stacks and stackprof.

use std::fmt::Write as _;

use crate::TEXT_BYTES;
use crate::program::{FUNCTIONS, Walk, below, file, function, numbers};

pub fn collapsed() -> Vec<u8> {
    let (mut walk, mut text) = (Walk::new(), String::new());
    while text.len() < TEXT_BYTES {
        walk.step();
        let names: Vec<String> = walk.stack.iter().map(|f| format!("fn_{f}")).collect();
        let _ = writeln!(text, "{} {}", names.join(";"), 1 + below(&mut walk.rng, 40));
    }
    text.into_bytes()
}

pub fn stackprof() -> Vec<u8> {
    let mut text = String::from("{\"version\":1.2,\"mode\":\"wall\",\"interval\":1000,\"samples\":9,\"frames\":{");
    for i in 0..FUNCTIONS {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\"{}\":{{\"name\":\"{}\",\"file\":\"{}\",\"line\":{i}}}",
            140_000_000 + u64::from(i),
            function(i),
            file(i)
        );
    }
    text.push_str("},\"raw\":[");
    let (mut walk, mut deltas) = (Walk::new(), Vec::new());
    while text.len() + deltas.len() * 5 < TEXT_BYTES {
        walk.step();
        let _ = write!(text, "{}{},", if deltas.is_empty() { "" } else { "," }, walk.stack.len());
        numbers(&mut text, walk.stack.iter().map(|&f| 140_000_000 + u64::from(f)).chain([1]));
        deltas.push(u64::from(walk.delta_us()));
    }
    text.push_str("],\"raw_timestamp_deltas\":[");
    numbers(&mut text, deltas);
    text.push_str("]}");
    text.into_bytes()
}
