//! Bytes behind the beginning of an ONNX model.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::import::{ImportOptions, read_onnx};

fuzz_target!(|bytes: &[u8]| {
    let _ = read_onnx(&bytes.to_vec(), &ImportOptions::default());
});
