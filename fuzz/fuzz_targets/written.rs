//! What can be read can be written in every format, and what is written as a Chrome trace is the same when it is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::{WriteFormat, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = read_bytes("fuzz", bytes) else { return };
    for format in WriteFormat::ALL {
        let _ = format.write(&profile);
    }
    let text = WriteFormat::Chrome.write(&profile);
    let again = read_bytes("fuzz", &text).expect("what is written can be read");
    assert_eq!(WriteFormat::Chrome.write(&again), text);
});
