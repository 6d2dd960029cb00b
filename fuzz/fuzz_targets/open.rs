//! Any bytes: unpacked, sniffed and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::read_bytes;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_bytes("fuzz", bytes);
});
