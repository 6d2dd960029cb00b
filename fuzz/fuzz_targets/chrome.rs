//! Bytes as a Chrome trace, whatever they look like.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::chrome::ChromeReader;
use neuronscope::formats::{ChunkedReader, ReadLimits};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = Box::new(ChromeReader::new(ReadLimits::default()));
    if reader.push(bytes).is_ok() {
        let _ = reader.finish();
    }
});
