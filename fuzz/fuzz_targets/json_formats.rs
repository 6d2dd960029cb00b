//! Bytes inside the skeletons of the JSON formats, so that every reader of one is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronscope::profile::formats::read_bytes;

const SKELETONS: &[(&str, &str)] = &[
    ("{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[", "]}"),
    ("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"},\"children\":[2]},{\"id\":2}],\"samples\":[", "]}"),
    ("{\"head\":{\"functionName\":\"f\",\"id\":1,\"children\":[", "]},\"startTime\":1,\"samples\":[1],\"timestamps\":[1]}"),
    ("{\"meta\":{\"interval\":1},\"threads\":[", "]}"),
    ("{\"version\":1,\"recording\":{\"sampleStackTraces\":[", "]}}"),
    ("{\"mode\":\"cpu\",\"interval\":1,\"samples\":1,\"frames\":{\"1\":{\"name\":\"f\"}},\"raw\":[", "]}"),
    ("{\"rocprofiler-sdk-tool\":[", "]}"),
    ("{\"ops\":[", "],\"total_time\":1}"),
    ("{\"instruction\":[", "]}"),
    ("{\"trace_events\":[", "]}"),
    ("{\"a\":{\"total_time\":1,\"x_percent\":", "}}"),
    ("[[1,2,3,4],", "]"),
    ("{\"traceEvents\":[],\"stackFrames\":", "}"),
    ("[{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":1,\"ts\":1,\"args\":{\"data\":{\"cpuProfile\":", "}}}]"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let (before, after) = SKELETONS[usize::from(kind) % SKELETONS.len()];
    let _ = read_bytes("fuzz", &[before.as_bytes(), bytes, after.as_bytes()].concat());
});
