//! Bytes behind the beginnings of the formats that are text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::profile::formats::read_bytes;

const BEGINNINGS: &[&[u8]] = &[
    b"a;b 1\n",
    b"# tracer: nop\n a-1 [000] 1.5: 0: B|1|x\n",
    b"<html><script id=\"viewer-data\">",
    b"<html><script class=\"trace-data\">#\n a-1 [000] 1.5: 0: B|1|x\n",
    b"\xff\xfe[\0{\0",
    b"{\"ph\":\"X\",\"ts\":1}\n{",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let _ = read_bytes("fuzz", &[BEGINNINGS[usize::from(kind) % BEGINNINGS.len()], bytes].concat());
});
