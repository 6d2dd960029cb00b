//! Chrome traces in forms that are rare or hardly allowed: their content is read nevertheless.

use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::asyncs::AsyncTable;
use neuronscope::profile::flows::FlowIndex;
use neuronscope::profile::{Profile, TrackKind};

use crate::open_text::{codes, open, rows};

const EVENT: &str = r#"{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}"#;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    out.extend(miniz_oxide::deflate::compress_to_vec(bytes, 6));
    let crc = !bytes.iter().fold(u32::MAX, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |crc, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    out.extend(crc.to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// Begin and end of every async operation, in nanoseconds.
fn spans(profile: &Profile) -> Vec<(String, i64, i64)> {
    let table = AsyncTable::new(profile);
    table.iter().map(|(_, s)| (profile.str(s.name).to_owned(), s.time.start.0, s.time.end.0)).collect()
}

#[test]
fn a_trace_inside_another_object_is_found() {
    for text in [
        format!(r#"{{"data":{{"traceEvents":[{EVENT}]}},"traceName":"traceEvents"}}"#),
        format!(r#"{{"artifacts":{{"traces":{{"first":{{"metadata":{{}},"traceEvents" : [{EVENT}],"x":1}}}}}}}}"#),
        format!(r#"[{{"traceEvents":[{EVENT}]}}]"#).replacen('[', r#"{"list":["#, 1) + "}",
        format!(r#"{{"pad":"{}","data":{{"traceEvents":[{EVENT}]}}}}"#, " ".repeat(10_000)),
        format!(r#"{{"data":{{"traceEvents":[{EVENT},"#),
    ] {
        let profile = open(&text);
        assert_eq!(rows(&profile), ["Process 1/Thread 1 a 0+2000"], "{text}");
        let diagnostic = profile.diagnostics().items().iter().find(|d| d.code == "nested_trace").unwrap();
        let begin = diagnostic.byte_offset.unwrap() as usize;
        assert!(text[begin..].starts_with('{') && text[begin..].contains("traceEvents"), "{diagnostic:?}");
    }
    let two = open(&format!(r#"{{"a":{{"traceEvents":[{EVENT}]}},"b":{{"traceEvents":[{EVENT}]}}}}"#));
    assert!(two.diagnostics().items()[0].first_example.starts_with("the first of several"));
}

#[test]
fn text_after_the_last_bracket_is_read_or_counted() {
    let object = format!(r#"{{"traceEvents":[{EVENT}]}}"#);
    for (text, slices) in [
        (format!("[{EVENT}]{object}"), 2),
        (format!("{object}\n[{EVENT},{EVENT}]"), 3),
        (format!("[{EVENT}],\n[{EVENT}]"), 2),
        (format!("{object}\0\0\0"), 1),
    ] {
        let profile = open(&text);
        assert_eq!((profile.slices().len(), codes(&profile)), (slices, vec![]), "{text}");
    }
    let profile = open(&format!("[{EVENT}] and so on"));
    let diagnostic = &profile.diagnostics().items()[0];
    assert_eq!((diagnostic.code.as_str(), diagnostic.byte_offset), ("trailing_text", Some(EVENT.len() as u64 + 3)));
    let broken = open(&format!(r#"{{"traceEvents":[{EVENT}],oops:1}}"#));
    assert_eq!((broken.slices().len(), broken.diagnostics().count("bad_json")), (1, 1));
}

#[test]
fn lines_may_begin_with_metadata_and_be_one() {
    let name = r#"{"ph":"M","pid":1,"name":"process_name","args":{"name":"P"}}"#;
    assert_eq!(rows(&open(&format!("{name}\n{EVENT}\n"))), ["P/Thread 1 a 0+2000"]);
    for one in [EVENT.to_owned(), format!("{EVENT}\n"), format!("{EVENT},\r\n")] {
        assert_eq!(rows(&open(&one)).len(), 1, "{one}");
    }
}

#[test]
fn nested_archives_are_unpacked() {
    let text = format!("[{EVENT}]");
    let twice = read_bytes("a.gz", &gzip(&gzip(text.as_bytes()))).unwrap();
    assert_eq!((rows(&twice).len(), codes(&twice)), (1, vec![]));
    let thrice = read_bytes("a.gz", &gzip(&gzip(&gzip(text.as_bytes())))).map(|p| p.meta().events);
    assert!(thrice.unwrap_err().to_string().contains("three times"));
    // Packed data usually cannot be packed further; here it can.
    let bomb = gzip(&gzip(&vec![b' '; 1 << 20]).repeat(2000));
    let message = read_bytes("a.gz", &bomb).map(|p| p.meta().events).unwrap_err().to_string();
    assert!(message.contains("unpack"), "{message}");
}

#[test]
fn ids_of_processes_are_numbers_however_they_are_written() {
    let profile = open(
        r#"[{"ph":"X","ts":1,"dur":2,"pid":7.0,"tid":3.00,"name":"a"},{"ph":"X","ts":5,"dur":2,"pid":"7","tid":3,"name":"b"},
        {"ph":"M","pid":7.0,"name":"process_name","args":{"name":"P"}},{"ph":"X","ts":9,"dur":1,"pid":"7.0.0","tid":0.5,"name":"c"}]"#,
    );
    assert_eq!(
        rows(&profile),
        ["P/Thread 3 a 0+2000", "P/Thread 3 b 4000+2000", "Process 7.0.0/Thread 0.5 c 8000+1000"]
    );
}

#[test]
fn counters_keep_what_is_a_finite_number() {
    let values = r#""12" null {"x":1} NaN 1e400 -3.5 true Infinity"#;
    let events: Vec<String> = (1..)
        .zip(values.split(' '))
        .map(|(ts, v)| format!(r#"{{"ph":"C","ts":{ts},"pid":1,"name":"c","args":{{"v":{v}}}}}"#))
        .collect();
    let profile = open(&format!("[{}]", events.join(",")));
    let counters = profile.counters();
    let series = counters.series().ids().next().unwrap();
    let kept: Vec<_> = counters.samples(series).map(|(t, v)| (t.0, v)).collect();
    assert_eq!(kept, [(0, 12.0), (5000, -3.5)]);
    assert_eq!(profile.diagnostics().count("counter_without_number"), 6);
}

#[test]
fn an_id_reaches_as_far_as_it_says() {
    let event = |ph: &str, ts: u32, pid: u32, id: &str| {
        format!(r#"{{"ph":"{ph}","ts":{ts},"pid":{pid},"tid":1,"name":"p{pid}","cat":"c",{id}}}"#)
    };
    let local = r#""id2":{"local":"0x1"}"#;
    let text = |events: &[String]| format!("[{}]", events.join(","));
    let of_each = open(&text(&[
        event("b", 0, 1, local),
        event("b", 2, 2, r#""id2": { "local" : "0x1" }"#),
        event("e", 5, 1, local),
        event("e", 9, 2, local),
    ]));
    assert_eq!(spans(&of_each), [("p1".to_owned(), 0, 5000), ("p2".to_owned(), 2000, 9000)]);
    let of_all =
        open(&text(&[event("b", 0, 1, r#""id2":{"global":"0x7"}"#), event("e", 5, 2, r#""id2":{"global":"0x7"}"#)]));
    assert_eq!(spans(&of_all), [("p1".to_owned(), 0, 5000)]);
    let scoped = |scope: &str| format!(r#""scope":"{scope}","id":"0x9""#);
    let in_scopes = open(&text(&[
        event("b", 0, 1, &scoped("one")),
        event("e", 3, 1, &scoped("two")),
        event("e", 6, 1, &scoped("one")),
    ]));
    assert_eq!(spans(&in_scopes), [("p1".to_owned(), 0, 6000)]);
    for profile in [of_each, of_all, in_scopes] {
        let written = WriteFormat::Chrome.write(&profile);
        let again = read_bytes("again", &written).unwrap();
        assert_eq!((spans(&again), WriteFormat::Chrome.write(&again)), (spans(&profile), written));
    }
}

#[test]
fn flows_with_local_ids_stay_in_their_process() {
    let mut events = Vec::new();
    for pid in [1, 2] {
        for (ts, ph) in [(1, "s"), (11, "f")] {
            let ts = ts + pid;
            events.push(format!(r#"{{"ph":"X","ts":{ts},"dur":5,"pid":{pid},"tid":{ts},"name":"{ph}{pid}"}}"#));
            events.push(format!(
                r#"{{"ph":"{ph}","bp":"e","ts":{ts},"pid":{pid},"tid":{ts},"name":"f","cat":"c","id2":{{"local":"0x1"}}}}"#
            ));
        }
    }
    let profile = open(&format!("[{}]", events.join(",")));
    let flows = FlowIndex::new(&profile);
    let name = |id| profile.str(profile.slices().name(id));
    let arrows: Vec<_> = flows.arrows().iter().map(|a| (name(a.from), name(a.to))).collect();
    assert_eq!(arrows, [("s1", "f1"), ("s2", "f2")]);
}

#[test]
fn a_profile_of_v8_alone_has_its_own_time() {
    let profile = open(
        r#"{"traceEvents":[{"ph":"I","name":"CpuProfile","ts":140,"pid":1,"tid":1,"s":"t","args":{"data":{"cpuProfile":{
        "nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":{"functionName":"f"}}],
        "samples":[2,2],"timeDeltas":[10,10],"startTime":100,"endTime":150}}}}]}"#,
    );
    assert_eq!(rows(&profile), ["Process 1/Thread 1 samples f 0+40000"]);
    assert!(profile.tracks().iter().any(|t| t.kind == TrackKind::Samples));
    assert_eq!(profile.meta().origin_ns, 110_000);
}

#[test]
fn messages_say_what_is_wrong_and_where() {
    let cases: [(&[u8], &str); 10] = [
        (
            b"[{\"ph\":\"X\",\"ts\":!!},\n{\"ph\":!}]",
            "no event can be read (the first at byte 1: not JSON: '!' at byte 16",
        ),
        (b"{hello: world}", "not: 'h' at byte 1 is out of place"),
        (b"{\"a\" \"b\"}", "not: '\"' at byte 5 is out of place"),
        (b"{'traceEvents': []}", "'\\'' at byte 1"),
        (b"{\"traceEvents\": {}}", "is an object, where an array of events should be"),
        (b"{\"traceEvents\": null}", "is null, where an array"),
        (b"{\"traceEvents\": \"[]\"}", "is text, where an array"),
        (b"\x1f\x8bhello", "its method is not deflate"),
        (b"\x1f\x8b\x08\0", "it ends inside its header"),
        (b"\xff\xfe\0\0[\0\0\0", "UTF-32"),
    ];
    for (bytes, message) in cases {
        let error = read_bytes("odd", bytes).map(|p| p.meta().events).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} should contain {message:?}");
    }
}

/// Frames that are each on top of the one before.
fn chain(frames: usize) -> String {
    let frame = |i: usize| format!(r#""{i}":{{"name":"function number {i}","parent":{}}}"#, i.wrapping_sub(1) as i64);
    (0..frames).map(frame).collect::<Vec<_>>().join(",")
}

#[test]
fn stacks_that_would_fill_the_memory_are_left_out() {
    let events: Vec<String> =
        (0..5000).map(|i| format!(r#"{{"ph":"X","ts":{i},"dur":1,"pid":1,"tid":1,"sf":{i}}}"#)).collect();
    let profile = open(&format!(r#"{{"stackFrames":{{{}}},"traceEvents":[{}]}}"#, chain(5000), events.join(",")));
    assert_eq!(profile.slices().len(), 5000);
    assert!(profile.diagnostics().count("stacks_left_out") > 1000);
    assert!(profile.args().bytes() < 80 << 20, "{} bytes", profile.args().bytes());
    let args: Vec<_> = profile.slices().ids().map(|id| profile.args().get(profile.slices().args(id))).collect();
    assert!(args[2].starts_with(r#"{"stack":["function number 0","function number 1""#), "{}", args[2]);
    assert_eq!(args[4999], r#"{"sf":"4999"}"#);
}

/// Two stacks without a frame in common take turns: each sample ends one and begins the other.
#[test]
fn samples_that_would_fill_the_memory_are_left_out() {
    let depth = 3000;
    let node = |i: usize| {
        let parent = if i == 1 || i == depth + 1 { "" } else { &format!(r#","parent":{}"#, i - 1) };
        format!(r#"{{"id":{i},"callFrame":{{"functionName":"f{i}"}}{parent}}}"#)
    };
    let nodes: Vec<_> = (1..=2 * depth).map(node).collect();
    let samples: Vec<_> = (0..8000).map(|i| (depth * (1 + i % 2)).to_string()).collect();
    let deltas = vec!["1"; samples.len()];
    let profile = open(&format!(
        r#"[{{"ph":"P","name":"ProfileChunk","id":"0x1","ts":9000,"pid":1,"tid":2,"args":{{"data":{{"cpuProfile":{{
        "nodes":[{}],"samples":[{}]}},"timeDeltas":[{}]}}}}}}]"#,
        nodes.join(","),
        samples.join(","),
        deltas.join(",")
    ));
    assert_eq!(profile.diagnostics().count("samples_left_out"), 1);
    assert!(profile.slices().len() < 12_000_000, "{}", profile.slices().len());
}

/// Work that grows with the square of the events would not end here.
#[test]
fn many_threads_profiles_and_places_are_read_in_a_moment() {
    let n = 60_000;
    let chunk = |i: usize| {
        format!(
            r#"{{"ph":"P","name":"Profile","id":"0x{i:x}","ts":{i},"pid":1,"tid":{i},"args":{{"data":{{"startTime":1}}}}}}"#
        )
    };
    let profiles: Vec<_> = (0..n).map(chunk).collect();
    assert_eq!(open(&format!("[{}]", profiles.join(","))).meta().events, n as u64);
    let sample = |i: usize| format!(r#"{{"ph":"P","name":"s","ts":{i},"pid":1,"tid":{i},"stack":["a"]}}"#);
    let samples: Vec<_> = (0..n).map(sample).collect();
    assert_eq!(open(&format!("[{}]", samples.join(","))).meta().events, n as u64);
    let series: Vec<_> = (0..n).map(|i| format!(r#""k{i}":{i}"#)).collect();
    let counter = open(&format!(r#"[{{"ph":"C","ts":1,"name":"c","args":{{{}}}}}]"#, series.join(",")));
    assert_eq!(counter.counters().series().len(), n);
    let row = |i: usize| format!(r#"{{"timestamp":{i},"duration":1,"label":"q{i}","opcode":"M"}}"#);
    let rows: Vec<_> = (0..n).map(row).collect();
    assert_eq!(open(&format!(r#"{{"instruction":[{}]}}"#, rows.join(","))).slices().len(), n);
    let op = |i: usize| format!(r#"{{"op_name":"a","op_time":1,"op_core":{i}}}"#);
    let ops: Vec<_> = (0..n).map(op).collect();
    assert_eq!(open(&format!(r#"{{"ops":[{}],"total_time":1}}"#, ops.join(","))).meta().events, n as u64);
}
