//! speedscope, of both kinds.

use std::fmt::Write as _;

use crate::TEXT_BYTES;
use crate::program::{FUNCTIONS, Walk, file, function, numbers};

fn speedscope(profile: &str, fill: impl FnOnce(&mut String)) -> Vec<u8> {
    let mut text =
        String::from("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[");
    for i in 0..FUNCTIONS {
        let _ = write!(
            text,
            "{}{{\"name\":\"{}\",\"file\":\"{}\",\"line\":{i}}}",
            if i > 0 { "," } else { "" },
            function(i),
            file(i)
        );
    }
    let _ = write!(
        text,
        "]}},\"profiles\":[{{\"name\":\"p\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":9,{profile}"
    );
    fill(&mut text);
    text.push_str("}]}");
    text.into_bytes()
}

pub fn evented() -> Vec<u8> {
    speedscope("\"type\":\"evented\",\"events\":[", |text| {
        let (mut walk, mut now, mut open) = (Walk::new(), 0u64, Vec::new());
        let mut comma = "";
        while text.len() < TEXT_BYTES {
            let kept = walk.step().min(open.len());
            now += u64::from(walk.delta_us());
            while open.len() > kept {
                let frame: u32 = open.pop().unwrap();
                let _ = write!(text, "{comma}{{\"type\":\"C\",\"frame\":{frame},\"at\":{now}}}");
            }
            for &frame in &walk.stack[kept..] {
                open.push(frame);
                let _ = write!(text, "{comma}{{\"type\":\"O\",\"frame\":{frame},\"at\":{now}}}");
                comma = ",";
            }
        }
        text.push(']');
    })
}

pub fn sampled() -> Vec<u8> {
    speedscope("\"type\":\"sampled\",\"samples\":[", |text| {
        let (mut walk, mut weights) = (Walk::new(), Vec::new());
        while text.len() + weights.len() * 5 < TEXT_BYTES {
            walk.step();
            text.push_str(if weights.is_empty() { "[" } else { ",[" });
            numbers(text, walk.stack.iter().map(|&f| u64::from(f)));
            text.push(']');
            weights.push(u64::from(walk.delta_us()));
        }
        text.push_str("],\"weights\":[");
        numbers(text, weights);
        text.push(']');
    })
}
