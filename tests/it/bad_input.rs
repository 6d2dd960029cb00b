//! Files that are broken, odd, or not profiles: the readable part is read, and the rest is named.

use std::fs;

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::formats::{ChunkedReader, ProfileReader, ReadLimits, read_bytes};

use crate::formats::fixtures;
use crate::open_text::{codes, open};

/// A description, the text, and what it loads as: events, slices, and diagnostics with their counts.
type Case<'a> = (&'a str, String, u64, usize, &'a [(&'a str, u64)]);

#[test]
fn broken_events_are_counted_and_the_rest_is_read() {
    let good = r#"{"ph":"X","ts":1,"dur":1,"name":"good"}"#;
    let cases: [Case<'_>; 18] = [
        ("missing ts", format!(r#"[{{"ph":"X","dur":1}},{good}]"#), 2, 1, &[("no_time", 1)]),
        ("ts is not a number", format!(r#"[{{"ph":"X","ts":"soon"}},{good}]"#), 2, 1, &[("bad_time", 1)]),
        ("ts is null", format!(r#"[{{"ph":"i","ts":null}},{good}]"#), 2, 1, &[("bad_time", 1)]),
        ("ts overflows", format!(r#"[{{"ph":"X","ts":1e40}},{good}]"#), 2, 1, &[("time_out_of_range", 1)]),
        ("ts is text", r#"[{"ph":"X","ts":"1.5","dur":"2"}]"#.to_owned(), 1, 1, &[]),
        ("no phase", format!(r#"[{{"ts":1}},{good}]"#), 2, 1, &[("no_phase", 1)]),
        ("phase is a number", format!(r#"[{{"ph":7,"ts":1}},{good}]"#), 2, 1, &[("no_phase", 1)]),
        (
            "unknown phase",
            format!(r#"[{{"ph":"Q","ts":1}},{{"ph":"QQ","ts":1}},{good}]"#),
            3,
            1,
            &[("unknown_phase", 2)],
        ),
        ("negative duration", r#"[{"ph":"X","ts":1,"dur":-1}]"#.to_owned(), 1, 1, &[("negative_duration", 1)]),
        ("odd duration", r#"[{"ph":"X","ts":1,"dur":[]}]"#.to_owned(), 1, 1, &[("bad_duration", 1)]),
        ("not an object", format!("[1,null,\"x\",[2],{good}]"), 1, 1, &[("element_not_object", 4)]),
        ("not JSON inside", format!(r#"[{{"ph":"X","ts":oops!}},{good}]"#), 2, 1, &[("bad_json", 1)]),
        ("quote missing", format!("[{{\"name\":\"a, \"ph\":\"X\"}},\n{good},\n{good}]"), 3, 2, &[("bad_json", 1)]),
        ("quote missing, one line", format!(r#"[{{"name":"a, "ph":"X"}},{good},{good}]"#), 3, 2, &[("bad_json", 1)]),
        ("brace missing", format!("[{{\"args\":{{\"a\":1, \"ph\":\"X\"}},\n{good}]"), 2, 1, &[("bad_json", 1)]),
        ("cut", format!("[{good},{{\"ph\":\"X\",\"ts"), 1, 1, &[("event_cut", 1), ("not_closed", 1)]),
        ("comma at the end", format!("[{good},"), 1, 1, &[("not_closed", 1)]),
        (
            "NaN and control characters",
            "[{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":NaN},\"name\":\"a\u{1}\nb\"}]".to_owned(),
            1,
            1,
            &[("no_duration", 1)],
        ),
    ];
    for (what, text, events, slices, diagnostics) in cases {
        let profile = open(&text);
        let want: Vec<_> = diagnostics.iter().map(|(code, n)| ((*code).to_owned(), *n)).collect();
        assert_eq!((profile.meta().events, profile.slices().len(), codes(&profile)), (events, slices, want), "{what}");
    }
}

#[test]
fn diagnostics_say_where() {
    let text = "\u{feff}[ {\"ph\":\"X\",\"ts\":1,\"dur\":1},\n {\"ph\":\"X\",\"ts\":bad!} ]";
    let profile = open(text);
    let item = &profile.diagnostics().items()[0];
    assert_eq!(
        (item.code.as_str(), item.byte_offset),
        ("bad_json", Some(text.find("{\"ph\":\"X\",\"ts\":bad").unwrap() as u64))
    );
    assert_eq!(item.first_example, "not JSON: '!' at byte 51 is out of place: skipped");
}

#[test]
fn objects_with_other_keys_around_the_events() {
    let events = r#"[{"ph":"B","ts":1,"pid":"p","tid":1},{"ph":"E","ts":3,"pid":"p","tid":"1","args":{"r":2}}]"#;
    let text =
        format!(r#"{{"a":{{"traceEvents":[1]}},"b":"}}]\"","c":[],"traceEvents":{events},"d":{{"e":[{{}}]}}}} "#);
    let profile = open(&text);
    assert_eq!((profile.slices().len(), codes(&profile)), (1, vec![]));
    let id = profile.slices().ids().next().unwrap();
    assert_eq!(profile.args().get(profile.slices().args(id)), r#"{"r":2}"#);
    assert_eq!(profile.slices().dur_ns(id), 2000);
    assert_eq!((profile.processes().len(), profile.tracks().len()), (1, 1));
}

#[test]
fn files_that_are_not_profiles_are_named() {
    let fixture = |name: &str| fs::read(fixtures().join(name)).unwrap();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "the file is empty"),
        (b" \n\t".to_vec(), "the file is empty"),
        (vec![b' '; 10_000], "the file is empty"),
        (b"{}".to_vec(), "it has no keys"),
        (b"{\"a\":1,\"b\":2}".to_vec(), "its keys are a, b"),
        (b"[1,2,3]".to_vec(), "none has a \"ph\""),
        (b"[{\"a\":1}]".to_vec(), "none has a \"ph\""),
        (b"hello".to_vec(), "a text file"),
        (vec![0, 159, 146, 150], "a binary file"),
        (b"\x1f\x8b\x08\x00".to_vec(), "ends inside its header"),
        (b"\x1f\x8b\x08\x00\0\0\0\0\0\x03\xff\xff\xff\xff".to_vec(), "does not inflate"),
        (b"PK\x05\x06".to_vec(), "holds no file"),
        (fixture("catapult_google_cloud_trace.json"), "a Google Cloud trace"),
        (fixture("ptxla_bench_a6000.jsonl"), "results of a benchmark experiment"),
        (fixture("neuronperf_model_neuron_b1.csv"), "benchmark reports of NeuronPerf"),
    ];
    for (bytes, message) in cases {
        let error = read_bytes("test", &bytes).map(|p| p.meta().events).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} should contain {message:?}");
    }
}

#[test]
fn an_empty_trace_is_a_trace() {
    for text in ["[]", r#"{"traceEvents":[]}"#] {
        let summary = OpenSummary::of(&open(text));
        assert_eq!((summary.events, summary.span_ns.whole(), summary.tracks), (0, Some(0), 0));
        assert_eq!(summary.diagnostics[0].code, "no_events");
    }
}

#[test]
fn damaged_archives_give_what_they_hold() {
    let whole = fs::read(fixtures().join("catapult_simple_trace_gz.gz")).unwrap();
    let events = |bytes: &[u8]| {
        let profile = read_bytes("test", bytes).unwrap();
        (profile.meta().events, codes(&profile).into_iter().map(|(code, _)| code).collect::<Vec<_>>())
    };
    let (count, clean) = events(&whole);
    assert_eq!(count, 35);
    assert!(!clean.iter().any(|code| code.starts_with("gzip")));

    let (cut_count, codes_of_cut) = events(&whole[..whole.len() / 2]);
    assert!(cut_count > 0 && cut_count < 35);
    assert!(codes_of_cut.contains(&"gzip_cut".to_owned()));

    let mut wrong_sum = whole.clone();
    let at = wrong_sum.len() - 8;
    wrong_sum[at] ^= 1;
    assert!(events(&wrong_sum).1.contains(&"gzip_checksum".to_owned()));

    // Two members: the text of both, one after the other, which is two arrays of events.
    let twice = [&whole[..], &whole[..]].concat();
    assert_eq!(events(&twice).0, 70);
    let padded = [&whole[..], &[0; 512]].concat();
    assert_eq!(events(&padded), (35, clean));

    let zip = fs::read(fixtures().join("catapult_simple_trace_zip.zip")).unwrap();
    assert_eq!(events(&zip).0, 35);
    let (cut_count, codes_of_cut) = events(&zip[..zip.len() / 2]);
    assert!(cut_count > 0 && codes_of_cut.contains(&"zip_cut".to_owned()));
    let two_files = [&zip[..zip.len() / 2 + 200], &zip[..]].concat();
    assert!(read_bytes("test", &two_files).is_ok());
}

#[test]
fn a_bomb_is_refused() {
    // 400 MiB of spaces deflate to about 400 KiB.
    let block = miniz_oxide::deflate::compress_to_vec(&vec![b' '; 1 << 20], 6);
    assert!(block.len() < 2048);
    let text = vec![b' '; 400 << 20];
    let mut bomb = b"\x1f\x8b\x08\x00\0\0\0\0\0\x03".to_vec();
    bomb.extend(miniz_oxide::deflate::compress_to_vec(&text, 6));
    let error = read_bytes("test", &bomb).map(|p| p.meta().events).unwrap_err();
    assert!(error.what().contains("bytes unpack to more than"), "{error}");
}

#[test]
fn memory_has_a_limit_that_is_an_error() {
    let mut reader =
        Box::new(ProfileReader::with_limits("test", ReadLimits { store_bytes: 100_000, ..ReadLimits::default() }));
    let mut result = reader.push(b"[");
    for i in 0..100_000 {
        if result.is_ok() {
            let event = format!(r#"{{"ph":"X","ts":{i},"dur":1,"pid":1,"tid":1,"name":"a","args":{{"i":{i}}}}},"#);
            result = reader.push(event.as_bytes());
        }
    }
    assert!(result.unwrap_err().what().starts_with("the profile is too large"));
}

#[test]
fn hostile_text_ends_in_bounded_work() {
    for text in [
        "[".repeat(1 << 20),
        "{\"a\":".repeat(200_000),
        format!("[{}", "{\"a\" ".repeat(300_000)),
        format!("[{}", "{\"a\":[{\"b\":{".repeat(100_000)),
        format!("[{}", "{\"a\":\"\\".repeat(100_000)),
        format!("[{}]", "},{\"".repeat(100_000)),
        format!("[{}1", "{\"ph\":\"X\",\"ts\":1,\"args\":[}},\n".repeat(100_000)),
    ] {
        // It does not matter whether it loads, only that reading ends.
        let _ = read_bytes("test", text.as_bytes());
    }
}

#[test]
fn deep_and_overlapping_slices_are_all_kept() {
    let mut text = String::from("[");
    for i in 0..70_000 {
        text.push_str(&format!("{{\"ph\":\"X\",\"ts\":{i},\"dur\":{},\"name\":\"d\"}},\n", 140_000 - 2 * i));
    }
    let profile = open(&text);
    assert_eq!(profile.slices().len(), 70_000);
    assert_eq!(profile.diagnostics().count("too_deep"), 70_000 - 65_536);
}
