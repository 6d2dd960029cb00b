//! Bytes as an ONNX model.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod readers {
    include!("../model_readers.rs");
}

fuzz_target!(|bytes: &[u8]| {
    let _ = readers::ModelReader::Onnx.ask(bytes);
});
