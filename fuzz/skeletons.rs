// What the fuzz targets put around their bytes, so that every reader is reached; also of the tests that run on stable Rust.

/// Before and after, of the formats that are JSON.
pub const JSON_SKELETONS: &[(&str, &str)] = &[
    ("{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[", "]}"),
    ("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"},\"children\":[2]},{\"id\":2}],\"samples\":[", "]}"),
    ("{\"head\":{\"functionName\":\"f\",\"id\":1,\"children\":[", "]},\"startTime\":1,\"samples\":[1],\"timestamps\":[1]}"),
    ("{\"meta\":{\"interval\":1},\"threads\":[", "]}"),
    ("{\"meta\":{\"interval\":1},\"profileJSON\":[", "],\"symbolicationTable\":[\"a\",\"b (c:1)\"]}"),
    ("{\"version\":1,\"recording\":{\"sampleStackTraces\":[", "]}}"),
    ("{\"mode\":\"cpu\",\"interval\":1,\"samples\":1,\"frames\":{\"1\":{\"name\":\"f\"}},\"raw\":[", "]}"),
    ("{\"rocprofiler-sdk-tool\":[", "]}"),
    ("{\"ops\":[", "],\"total_time\":1}"),
    ("{\"instruction\":[", "]}"),
    ("{\"trace_events\":[", "]}"),
    ("{\"a\":{\"total_time\":1,\"x_percent\":", "}}"),
    ("[[1,2,3,4],", "]"),
    ("{\"traceEvents\":[],\"stackFrames\":", "}"),
    ("{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}],\"systemTraceEvents\":\" a-1 [000] 1.5: 0: B|1|x\\n", "\"}"),
    ("[{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":1,\"ts\":1,\"args\":{\"data\":{\"cpuProfile\":", "}}}]"),
];

/// Beginnings of the formats that are protocol buffers.
pub const PROTOBUF_BEGINNINGS: &[&[u8]] = &[
    // pprof: a kind of sample.
    b"\x0a\x04\x08\x01\x10\x02",
    // XPlane: a plane with a name.
    b"\x0a\x06\x08\x01\x12\x02/a",
    // Perfetto: a packet with a time and a sequence.
    b"\x0a\x04\x40\x01\x50\x01",
];

/// Beginnings of the formats that are text.
pub const TEXT_BEGINNINGS: &[&[u8]] = &[
    b"a;b 1\n",
    b"# tracer: nop\n a-1 [000] 1.5: 0: B|1|x\n",
    b"<html><script id=\"viewer-data\">",
    b"<html><script class=\"trace-data\">#\n a-1 [000] 1.5: 0: B|1|x\n",
    b"\xff\xfe[\0{\0",
    b"{\"ph\":\"X\",\"ts\":1}\n{",
    b"a 1/2 [000] 1.5: 10 cycles:\n\t 7f f+0x1 (/a)\n",
];
