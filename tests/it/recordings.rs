//! Traces that other tools recorded: their content is compared with what those tools, or others, report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use neuronscope::analysis::counters::series_names;
use neuronscope::analysis::summary::OpenSummary;
use neuronscope::formats::read_bytes;
use neuronscope::profile::Profile;

use crate::open_text::{codes, format, open, rows};

fn recorded(name: &str) -> Profile {
    let bytes = fs::read(file(name)).unwrap();
    read_bytes(name, &bytes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/recorded").join(name)
}

/// Number of slices of each name, and their time.
fn totals(profile: &Profile) -> BTreeMap<String, (u64, i64)> {
    let summary = OpenSummary::of(profile);
    summary.operators.iter().map(|op| (op.name.clone(), (op.count, op.total_ns.whole().unwrap()))).collect()
}

#[test]
fn slices_of_chromium_are_those_that_perfetto_counts() {
    let profile = recorded("chromium_156.perfetto-trace.gz");
    assert_eq!(format(&profile), ("perfetto".into(), 1_050));
    let theirs: BTreeMap<String, (u64, i64)> =
        serde_json::from_slice(&fs::read(file("chromium_156.slices.json")).unwrap()).unwrap();
    // Perfetto counts instants as slices of length zero.
    let ours = totals(&profile);
    let is_slice = |name: &String, ns: i64| ns > 0 || ours.contains_key(name);
    let slices: BTreeMap<_, _> = theirs.into_iter().filter(|(name, (_, ns))| is_slice(name, *ns)).collect();
    assert_eq!(ours, slices);
    assert_eq!((ours.len(), ours.values().map(|(n, _)| n).sum::<u64>()), (145, 266));
}

#[test]
fn threads_that_count_the_same_have_a_counter_each() {
    let profile = recorded("chromium_156.perfetto-trace.gz");
    let names = series_names(&profile);
    let times: Vec<&String> = names.iter().filter(|name| name.contains("thread_time")).collect();
    assert!(times.len() > 2, "{names:?}");
    assert!(times.iter().any(|name| name.contains("CrRendererMain")), "{times:?}");
    // The time of a thread never goes back; with values of several threads in one series it would.
    let counters = profile.counters();
    for (id, name) in counters.series().ids().zip(&names).filter(|(_, name)| name.contains("thread_time")) {
        let values = counters.samples(id).map(|(_, value)| value).collect::<Vec<f64>>();
        assert!(values.is_sorted(), "{name}");
    }
}

#[test]
fn jax_writes_the_same_as_xplane_and_as_json() {
    let (plane, json) = (recorded("jax_0.10.xplane.pb"), recorded("jax_0.10.trace.json.gz"));
    assert_eq!(plane.meta().format, "xplane");
    assert_eq!(json.meta().format, "chrome-trace-object");
    let (plane, json) = (totals(&plane), totals(&json));
    let counts = |all: &BTreeMap<String, (u64, i64)>| all.iter().map(|(n, (c, _))| (n.clone(), *c)).collect::<Vec<_>>();
    assert_eq!(counts(&plane), counts(&json));
    for (name, (count, ns)) in &plane {
        assert!(json[name].1.abs_diff(*ns) <= *count, "{name}: {ns} ns and {} ns", json[name].1);
    }
}

#[test]
fn geckos_own_markers_start_and_end_by_name() {
    // As Gecko writes them: a time that a phase does not use is zero, and a marker that starts in between ends later.
    let profile = open(
        r#"{"meta":{"version":34,"startTime":0,"interval":1,"product":"Firefox"},"threads":[{"name":"GeckoMain","pid":1,"tid":2,
        "stringTable":["Load","Awake"],"samples":{"schema":{"stack":0,"time":1},"data":[]},
        "markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[
        [0,10,0,2,0,null],[1,11,0,2,0,null],[0,0,12,3,0,null],[1,0,14,3,0,null],[1,0,15,3,0,null],[0,16,0,2,0,null],[1,17,0,0,0]]}}]}"#,
    );
    assert_eq!(
        rows(&profile),
        [
            "Firefox/GeckoMain markers Load 0+2000000",
            "Firefox/GeckoMain markers Awake 1000000+3000000",
            "Firefox/GeckoMain markers Load 6000000+1000000",
        ]
    );
    assert_eq!(profile.instants().len(), 1);
    assert_eq!(format(&profile).1, 7);
    let all = [("end_without_begin", 1), ("begin_without_end", 1), ("partial_overlap", 1)];
    let mut found = codes(&profile);
    found.sort();
    let mut wanted: Vec<_> = all.iter().map(|(code, n)| ((*code).to_owned(), *n)).collect();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn a_memory_timeline_is_the_same_as_changes_and_as_a_table() {
    let (table, changes) = (recorded("torch_2.1.memory.json"), recorded("torch_2.1.memory.raw.json.gz"));
    // The table has nanoseconds here, microseconds in later versions; its first row is the memory from before.
    assert_eq!((table.meta().origin_ns, table.span_ns()), (changes.meta().origin_ns, changes.span_ns()));
    assert!(table.diagnostics().is_empty());
    let last = |profile: &Profile| -> BTreeMap<String, f64> {
        let counters = profile.counters();
        let ids = counters.series().ids().zip(series_names(profile));
        ids.filter_map(|(id, name)| Some((name, counters.samples(id).next_back()?.1)))
            .filter(|(_, v)| *v != 0.0)
            .collect()
    };
    assert_eq!(last(&table), last(&changes));
}

#[test]
fn a_page_of_viztracer_holds_its_trace() {
    let trace = r#"{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 5.25, "dur": 2, "name": "</b>"}], "viztracer_metadata": {}}"#;
    let page = |end: &str| {
        format!("<!DOCTYPE html>\n<head><script>\n  json_data = {trace}{end}\n  draw(json_data)\n</script></head>")
    };
    for end in ["", ";"] {
        let profile = open(&page(end));
        assert_eq!(rows(&profile), ["Process 1/Thread 1 </b> 0+2000"]);
        assert_eq!((profile.meta().origin_ns, profile.diagnostics().is_empty()), (5_250, true));
    }
}

#[test]
fn files_that_are_not_profiles_are_named() {
    for (head, name) in [
        (&b"<?xml version=\"1.0\"?><!DOCTYPE svg><svg width=\"1\"/>"[..], "a drawing (SVG)"),
        (b"\xfb)\x03\xfa\x04w.py\xe9\x01\0\0\0", "statistics of Python's cProfile"),
        (b"Running Time\tSelf (ms)\t\tSymbol Name\n", "a call tree copied from Instruments"),
    ] {
        let error = read_bytes("given", head).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
