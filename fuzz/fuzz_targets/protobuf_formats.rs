//! Bytes behind the beginnings of the formats that are protocol buffers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::profile::formats::read_bytes;

const BEGINNINGS: &[&[u8]] = &[
    // pprof: a kind of sample.
    b"\x0a\x04\x08\x01\x10\x02",
    // XPlane: a plane with a name.
    b"\x0a\x06\x08\x01\x12\x02/a",
    // Perfetto: a packet with a time and a sequence.
    b"\x0a\x04\x40\x01\x50\x01",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let _ = read_bytes("fuzz", &[BEGINNINGS[usize::from(kind) % BEGINNINGS.len()], bytes].concat());
});
