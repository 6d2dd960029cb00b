//! Chrome traces, and the same as Perfetto.

use std::fmt::Write as _;

use neuronscope::base::Rng;
use neuronscope::formats::{WriteFormat, read_bytes};

use crate::TEXT_BYTES;
use crate::program::{FUNCTIONS, Walk, below, function};

pub fn complete() -> Vec<u8> {
    let (mut rng, mut text) = (Rng::new(11, 2), String::from("{\"traceEvents\":[\n"));
    let mut now_ns = 1_700_000_000_000_000u64;
    let mut i = 0u64;
    while text.len() < TEXT_BYTES {
        now_ns += u64::from(below(&mut rng, 20_000));
        let dur = below(&mut rng, 9_000);
        let _ = writeln!(
            text,
            "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{dur}.{:03},\
             \"args\":{{\"External id\":{i},\"correlation\":{},\"stream\":7}}}},",
            function(below(&mut rng, FUNCTIONS)),
            i % 2,
            i % 8,
            now_ns / 1000,
            now_ns % 1000,
            dur % 1000,
            i * 3
        );
        i += 1;
    }
    text.push_str("{}]}");
    text.into_bytes()
}

pub fn begin_end() -> Vec<u8> {
    let (mut walk, mut text) = (Walk::new(), String::from("[\n"));
    let (mut now, mut open) = (0u64, Vec::new());
    while text.len() < TEXT_BYTES {
        let kept = walk.step().min(open.len());
        now += u64::from(walk.delta_us());
        while open.len() > kept {
            open.pop();
            let _ = writeln!(text, "{{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":{now}}},");
        }
        for &frame in &walk.stack[kept..] {
            open.push(frame);
            let name = function(frame);
            let _ = writeln!(text, "{{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":{now},\"name\":\"{name}\"}},");
        }
    }
    text.push_str("{}]");
    text.into_bytes()
}

pub fn perfetto() -> Vec<u8> {
    WriteFormat::Perfetto.write(&read_bytes("made", &complete()).unwrap())
}
