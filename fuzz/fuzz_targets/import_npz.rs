//! Bytes as an archive of NumPy arrays.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod readers {
    include!("../model_readers.rs");
}

fuzz_target!(|bytes: &[u8]| {
    let _ = readers::ModelReader::Npz.ask(bytes);
});
