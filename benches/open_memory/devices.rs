//! What profilers of devices write: PyTorch's memory timeline, rocprof, neuron-profile.

use std::fmt::Write as _;

use neuronscope::base::Rng;

use crate::TEXT_BYTES;
use crate::program::{FUNCTIONS, below, function};

pub fn memory_timeline() -> Vec<u8> {
    let (mut rng, mut text, mut now) = (Rng::new(11, 4), String::from("["), 1_700_000_000_000_000_000u64);
    while text.len() < TEXT_BYTES {
        now += u64::from(below(&mut rng, 20_000));
        let (action, bytes, kind) = (below(&mut rng, 4), below(&mut rng, 1 << 24), below(&mut rng, 8));
        let _ = write!(text, "{}[{now}, {action}, {bytes}, {kind}]", if text.len() > 1 { ", " } else { "" });
    }
    text.push(']');
    text.into_bytes()
}

pub fn rocprof() -> Vec<u8> {
    let mut text = String::from(
        "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":1},\"agents\":[],\"kernel_symbols\":[{\"kernel_id\":1,\
         \"formatted_kernel_name\":\"gemm\"}],\"buffer_records\":{\"kernel_dispatch\":[",
    );
    let (mut rng, mut now, mut i) = (Rng::new(11, 5), 1_700_000_000_000u64, 0u64);
    while text.len() < TEXT_BYTES {
        let dur = u64::from(below(&mut rng, 50_000));
        let _ = write!(
            text,
            "{}{{\"size\":64,\"kind\":11,\"operation\":2,\"thread_id\":7,\"correlation_id\":{{\"internal\":{i},\"external\":0}},\
             \"start_timestamp\":{now},\"end_timestamp\":{},\"dispatch_info\":{{\"size\":1,\"agent_id\":{{\"handle\":5}},\
             \"queue_id\":{{\"handle\":1}},\"kernel_id\":1,\"dispatch_id\":{i}}}}}",
            if i > 0 { "," } else { "" },
            now + dur
        );
        now += dur + 100;
        i += 1;
    }
    text.push_str("]}}]}");
    text.into_bytes()
}

pub fn neuron_profile() -> Vec<u8> {
    let (mut rng, mut now, mut text) = (Rng::new(11, 6), 1_700_000_000_000u64, String::from("{\"instruction\":["));
    let mut i = 0;
    while text.len() < TEXT_BYTES {
        let dur = u64::from(below(&mut rng, 5000));
        let _ = write!(
            text,
            "{}{{\"timestamp\":{now},\"duration\":{dur},\"opcode\":\"MATMUL\",\"label\":\"pe\",\"subgroup\":\"PE\",\
             \"hlo_name\":\"{}\",\"nc_idx\":0,\"operands\":\"src={i} dst={now}\",\"pc\":{i}}}",
            if i > 0 { "," } else { "" },
            function(below(&mut rng, FUNCTIONS)),
        );
        now += dur + 10;
        i += 1;
    }
    text.push_str("]}");
    text.into_bytes()
}
