//! Older and rarer forms that real producers have written, and the messages for files that cannot be opened.

use neuronscope::formats::read_bytes;

use crate::open_text::{open, rows};

/// Until version 4 Gecko put the profile of a content process into the list of threads, as JSON inside a string.
#[test]
fn firefox_processes_written_as_text() {
    let thread = r#"{"name":"GeckoMain","samples":{"schema":{"stack":0,"time":1},"data":[[0,1],[1,2],[0,4]]},
        "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1]]},
        "frameTable":{"schema":{"location":0},"data":[[0],[1]]},"stringTable":["main","f (a.js:3)"],
        "markers":{"schema":{"name":0,"time":1,"data":2},"data":[[1,3,{"startTime":3,"endTime":3.5}]]}}"#;
    let inner = format!(r#"{{"meta":{{"version":3,"interval":1,"startTime":1500.25}},"threads":[{thread}]}}"#);
    let text = serde_json::Value::from(inner.as_str()).to_string();
    let meta = r#"{"version":3,"interval":1,"startTime":500.25,"product":"Firefox"}"#;
    let profile = open(&format!(r#"{{"meta":{meta},"libs":"[]","threads":[{thread},{text}]}}"#));
    assert_eq!(profile.meta().events, 8);
    assert_eq!((profile.processes().len(), profile.diagnostics().is_empty()), (2, true));
    let ms = 1_000_000;
    assert_eq!(
        rows(&profile),
        [
            format!("Firefox/GeckoMain main 0+{}", 4 * ms),
            format!("Firefox/GeckoMain f {}+{}", ms, 2 * ms),
            format!("Firefox/GeckoMain markers f (a.js:3) {}+{}", 2 * ms, ms / 2),
            // The other process began a second later.
            format!("Process process 1/GeckoMain main {}+{}", 1000 * ms, 4 * ms),
            format!("Process process 1/GeckoMain f {}+{}", 1001 * ms, 2 * ms),
            format!("Process process 1/GeckoMain markers f (a.js:3) {}+{}", 1002 * ms, ms / 2),
        ]
    );
}

/// Version 2 had samples that contain their frames; earlier versions had frames that are numbers of symbols.
#[test]
fn firefox_samples_as_lists() {
    let profile = open(
        r#"{"meta":{"version":2,"interval":1},"libs":"[]","threads":[{"name":"GeckoMain","tid":1,"samples":[
        {"frames":[{"location":"(root)"},{"location":"main (a.js:3)"}],"time":1.5},
        {"frames":[{"location":"(root)"},{"location":"main (a.js:3)"},{"location":"f"}],"time":2.5},{"frames":[]}]}]}"#,
    );
    assert_eq!((profile.meta().format.as_str(), profile.meta().events), ("firefox-profile", 3));
    let track = "(no process id)/GeckoMain";
    assert_eq!(rows(&profile), [format!("{track} main 0+2000000"), format!("{track} f 1000000+1000000")]);
    assert_eq!(profile.diagnostics().count("bad_sample"), 1);

    for symbols in [r#"["idle","main (in XUL)"]"#, r#"{"0":"idle","1":"main (in XUL)"}"#] {
        let profile = open(&format!(
            r#"{{"format":"profileJSONWithSymbolicationTable,1","meta":{{"interval":2,"version":2}},"profileJSON":[
            {{"frames":[1],"extraInfo":{{"time":10}}}},{{"frames":[1,0],"extraInfo":{{"time":12}}}}],
            "symbolicationTable":{symbols}}}"#,
        ));
        assert_eq!(profile.meta().events, 2);
        let track = "(no process id)/Samples";
        assert_eq!(rows(&profile), [format!("{track} main 0+4000000"), format!("{track} idle 2000000+2000000")]);
    }
}

#[test]
fn output_of_perf_script() {
    let text = "# captured on: some day\n#\n\
        my prog  7/8 [001] 10.000000001:     250000 cycles: \n\t  643 f+0x10 (/bin/a)\n\t  6f3 main (/bin/a)\n\n\
        my prog  7/8 [001] 10.001000001:     250000 cycles: \n\t  6f3 main (/bin/a)\n\n\
        other  9 [000] 10.002000000:     250000 cycles: \n\t  ff [unknown] ([unknown])\n\n\
        my prog  7/8 [001] 10.003000001:     250000 cycles: \n\t  6f3 main (/bin/a)\n";
    let profile = open(text);
    assert_eq!((profile.meta().format.as_str(), profile.meta().events), ("perf-script", 4));
    assert_eq!(profile.meta().origin_ns, 10_000_000_001);
    assert_eq!(
        rows(&profile),
        [
            "my prog 7/my prog 8 main 0+5000000",
            "my prog 7/my prog 8 f 0+1000000",
            // One sample says nothing about how long it lasted.
            "other 9/other 9 [unknown] 1999999+0",
        ]
    );
    for cut in 0..text.len() {
        let whole = read_bytes("cut", &text.as_bytes()[..cut]);
        assert!(whole.is_err() || whole.unwrap().meta().events <= 5, "{cut}");
    }
}

/// Bazel's launch phase lies before zero; its arguments and output base are the file's own.
#[test]
fn bazel_profiles_begin_before_zero() {
    let profile = open(
        r#"{"otherData":{"build_id":"52f0","output_base":"/home/x"},"traceEvents":[
        {"name":"thread_name","ph":"M","pid":1,"tid":20,"args":{"name":"Main Thread"}},
        {"cat":"build phase marker","name":"Launch Blaze","ph":"X","ts":-17000,"dur":17000,"pid":1,"tid":20},
        {"cat":"build phase marker","name":"Initialize command","ph":"i","ts":0,"pid":1,"tid":20},
        {"name":"action count","ph":"C","ts":1000.5,"pid":1,"tid":20,"args":{"action":"2.5"}}]}"#,
    );
    assert_eq!((profile.meta().origin_ns, profile.span_ns()), (-17_000_000, 18_000_500));
    assert_eq!(rows(&profile), ["Process 1/Main Thread Launch Blaze 0+17000000"]);
    assert_eq!((profile.instants().len(), profile.counters().counters().len()), (1, 1));
}

/// A known kind of file that cannot be opened is named.
#[test]
fn files_of_other_tools_are_named() {
    let cases: &[(&[u8], &str)] = &[
        (b"# callgrind format\nversion: 1\nevents: Ir\nfn=(1) main\n16 400\n", "Callgrind"),
        (b"\tSun Jan 1 2026 Time and Allocation Profiling Report  (Final)\n", "GHC"),
        (b"Weight\tSelf Weight\t\tSymbol Name\n2.04 s  100.0%\t0 s\t \tmain\n", "Instruments"),
        (b"heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2 [3: 4] @ 0x1\n", "pprof profile as text"),
        (b"goroutine profile: total 2\n1 @ 0x1 0x2\n", "pprof profile as text"),
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x08", "Java heap dump"),
        (b"memray\0\x0b\0\0\0", "memray"),
        (b"*version\n3\nclock=dual\n*threads\n1\tmain\n*end\nSLOW\x03\0", "Android's runtime"),
        (b"{\"dhatFileVersion\":2,\"mode\":\"heap\",\"pps\":[]}", "DHAT"),
        (b"{\"segments\":[],\"device_traces\":[]}", "PyTorch memory snapshot"),
        (b"{\"start_time\":1,\"duration\":2,\"sample_count\":1,\"root_frame\":{}}", "pyinstrument"),
        (
            b"{\"schema\":\"1.1.0-chakra.0.0.4\",\"pid\":1,\"time\":\"x\",\"start_ts\":1,\"nodes\":[]}",
            "execution trace",
        ),
        (b"<html><body><img src='data:image/png;base64,iVBORw0KGgo='></body></html>", "memory timeline"),
        (b"<?xml version=\"1.0\"?>\n<trace-query-result></trace-query-result>", "xctrace"),
        (b"PERFILE2\x68\0\0\0\0\0\0\0", "perf script"),
    ];
    for (bytes, name) in cases {
        match read_bytes("other", bytes).map(|p| p.meta().clone()) {
            Err(refusal) => assert!(refusal.what().contains(name), "{name}: {refusal}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// A file that is recognised but holds nothing gives a message that says so.
#[test]
fn empty_files_are_reported() {
    for text in [
        r#"{"meta":{"version":27,"interval":1},"threads":[]}"#,
        r#"{"nodes":[],"samples":[],"timeDeltas":[]}"#,
        r#"{"$schema":"x","shared":{"frames":[]},"profiles":[]}"#,
        r#"{"traceEvents":[]}"#,
    ] {
        let profile = open(text);
        assert_eq!((profile.meta().events, profile.diagnostics().count("no_events")), (0, 1), "{text}");
    }
}

/// Without samples V8 still says how often each function was on top.
#[test]
fn cpuprofiles_of_hits_alone() {
    let call =
        |name: &str| format!(r#""callFrame":{{"functionName":"{name}","url":"","lineNumber":-1,"columnNumber":-1}}"#);
    let profile = open(&format!(
        r#"{{"nodes":[{{"id":1,{},"hitCount":0,"children":[2]}},{{"id":2,{},"hitCount":3,"children":[3]}},
        {{"id":3,{},"hitCount":1}}],"startTime":100,"endTime":500}}"#,
        call("(root)"),
        call("f"),
        call("g")
    ));
    assert_eq!((profile.meta().events, profile.span_ns(), profile.diagnostics().count("no_samples")), (4, 400_000, 1));
    assert_eq!(rows(&profile), ["JavaScript/CPU profile f 0+400000", "JavaScript/CPU profile g 300000+100000"]);
}

/// XLA's writer ends the list with an empty object: the file is not at fault.
#[test]
fn the_empty_event_at_the_end_of_xla_traces() {
    let profile = open(
        r#"{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
        {"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"XLA Modules"}},
        {"ph":"X","pid":3,"tid":1,"ts":12.345678,"dur":7.001,"name":"jit_f"},{}]}"#,
    );
    assert!(profile.diagnostics().is_empty(), "{:?}", profile.diagnostics().items());
    assert_eq!(rows(&profile), ["Process 3/XLA Modules jit_f 0+7001"]);
    assert_eq!((profile.meta().events, profile.processes().len(), profile.tracks().len()), (2, 1, 1));
}
