//! The same bytes whole and in pieces of a length that the first byte says give the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::formats::{ChunkedReader, ProfileReader, read_bytes};
use neuronscope::analysis::summary::OpenSummary;

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, bytes)) = bytes.split_first() else { return };
    let whole = read_bytes("fuzz", bytes).map(|p| OpenSummary::of(&p));
    let mut reader = Box::new(ProfileReader::new("fuzz"));
    let pushed = bytes.chunks(usize::from(size) + 1).try_for_each(|piece| reader.push(piece));
    let pieces = pushed.and_then(|()| reader.finish()).map(|p| OpenSummary::of(&p));
    assert_eq!(whole, pieces);
});
