//! Bytes behind the beginnings of the formats that are text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::read_bytes;

#[allow(dead_code, reason = "each target uses a part of it")]
mod skeletons {
    include!("../skeletons.rs");
}
use skeletons::TEXT_BEGINNINGS;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let _ = read_bytes("fuzz", &[TEXT_BEGINNINGS[usize::from(kind) % TEXT_BEGINNINGS.len()], bytes].concat());
});
