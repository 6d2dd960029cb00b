//! Bytes inside the skeletons of the JSON formats, so that every reader of one is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::read_bytes;

#[allow(dead_code, reason = "each target uses a part of it")]
mod skeletons {
    include!("../skeletons.rs");
}
use skeletons::JSON_SKELETONS;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let (before, after) = JSON_SKELETONS[usize::from(kind) % JSON_SKELETONS.len()];
    let _ = read_bytes("fuzz", &[before.as_bytes(), bytes, after.as_bytes()].concat());
});
