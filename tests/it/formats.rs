//! Real traces, compared with facts that an independent reader computed from them, exact to the nanosecond.
//!
//! The small ones are fixtures. For a folder of larger ones, set `NEURONSCOPE_TRACES` to it; it holds traces and
//! `facts/NAME.facts.json`.

use std::fs;
use std::path::{Path, PathBuf};

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::formats::read_bytes;
use neuronscope::profile::{Profile, SliceFlags};
use serde_json::Value;

/// The folder of larger traces, with `facts/NAME.facts.json` of each.
pub fn large_traces() -> PathBuf {
    std::env::var_os("NEURONSCOPE_TRACES").expect("NEURONSCOPE_TRACES names a folder of traces").into()
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/traces")
}

/// Traces of a folder with their facts, by name.
fn traces_with_facts(dir: &Path, facts_dir: &Path) -> Vec<(String, Vec<u8>, Value)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(facts) = fs::read_to_string(facts_dir.join(format!("{name}.facts.json"))) else { continue };
        let facts: Value = serde_json::from_str(&facts).unwrap();
        if facts.get("n_events").is_some() && matches!(facts["form"].as_str(), Some("object" | "array")) {
            found.push((name, fs::read(&path).unwrap(), facts));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Everything that differs between a profile and its facts.
fn differences(profile: &Profile, facts: &Value) -> Vec<String> {
    let summary = OpenSummary::of(profile);
    let mut wrong = Vec::new();
    let mut check = |what: &str, got: Value, want: &Value| {
        if got != *want {
            wrong.push(format!("{what}: {got}, should be {want}"));
        }
    };
    let form = facts["form"].as_str().unwrap();
    check("format", summary.format.clone().into(), &format!("chrome-trace-{form}").into());
    check("events", summary.events.into(), &facts["n_events"]);
    check("by_ph", serde_json::to_value(&summary.by_phase).unwrap(), &facts["by_ph"]);
    check("span_ns", summary.span_ns.whole().into(), &facts["span_ns"]);
    check("min_ts_ns", profile.meta().origin_ns.into(), &facts["min_ts_ns"]);
    check("processes", summary.processes.into(), &facts["n_pids"]);
    check("tracks", summary.tracks.into(), &facts["n_pid_tid"]);

    let slices = profile.slices();
    let own = slices.ids().filter(|&id| profile.tracks()[slices.track(id)].kind.is_own());
    let closed = own.filter(|&id| !slices.flags(id).has(SliceFlags::UNCLOSED)).count();
    let count = |code: &str| Value::from(profile.diagnostics().count(code));
    if let Some(slices) = facts.get("n_slices_X_plus_matched_BE") {
        check("slices", closed.into(), slices);
    }
    if let Some(overlaps) = facts.get("partial_overlaps") {
        check("partial_overlaps", count("partial_overlap"), overlaps);
    }
    if let Some(pairs) = facts.get("BE") {
        check("unclosed_B", count("begin_without_end"), &pairs["unclosed_B"]);
        check("E_without_B", count("end_without_begin"), &pairs["E_without_B"]);
        check("name_mismatch", count("end_name_mismatch"), &pairs["name_mismatch"]);
        let complete = summary.by_phase.get("X");
        check("matched_LIFO", (closed as u64 - complete).into(), &pairs["matched_LIFO"]);
    }
    if let Some(missing) = facts.get("X_missing_dur") {
        check("X_missing_dur", count("no_duration"), missing);
    }
    if let Some(counters) = facts.get("counters") {
        check("counters", profile.counters().counters().len().into(), &counters["tracks(pid,name,id)"]);
    }
    for (i, row) in facts["top10_self_ns"].as_array().into_iter().flatten().enumerate() {
        let (name, own) = (row[0].as_str().unwrap(), &row[1]);
        let name = if name == "None" { "" } else { name };
        let op = summary.operators.iter().find(|op| op.name == name);
        check(&format!("self time {i} of {name:?}"), op.map_or(Value::Null, |op| op.self_ns.whole().into()), own);
    }
    // Totals in the facts count complete events only; operators count B and E too.
    if facts.get("BE").is_none() {
        for (op, row) in summary.operators.iter().zip(facts["X_top10_total_ns"].as_array().into_iter().flatten()) {
            check("a total, by rank", op.total_ns.whole().into(), &row[2]);
            let same = summary.operators.iter().find(|op| op.name == row[0]);
            check("total of a name", same.map_or(Value::Null, |op| op.total_ns.whole().into()), &row[2]);
            check("count of a name", same.map_or(Value::Null, |op| op.count.into()), &row[1]);
        }
    }
    wrong
}

fn check_folder(dir: &Path, facts_dir: &Path, at_least: usize) {
    let traces = traces_with_facts(dir, facts_dir);
    assert!(traces.len() >= at_least, "only {} traces with facts in {}", traces.len(), dir.display());
    let mut failures = Vec::new();
    for (name, bytes, facts) in &traces {
        match read_bytes(name, bytes) {
            Ok(profile) => {
                failures.extend(differences(&profile, facts).into_iter().map(|wrong| format!("{name}: {wrong}")));
                check_rows_do_not_overlap(&profile, name);
            }
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{} of {} traces\n{}", failures.len(), traces.len(), failures.join("\n"));
}

/// No slice hides another: in a row of a track each slice ends before the next begins.
fn check_rows_do_not_overlap(profile: &Profile, name: &str) {
    let slices = profile.slices();
    for track in profile.tracks().ids() {
        let mut row_ends = vec![i64::MIN; slices.rows(track) as usize];
        for id in slices.of_track(track) {
            let row_end = &mut row_ends[usize::from(slices.depth(id))];
            assert!(slices.start(id).0 >= *row_end, "{name}: {id:?} is hidden");
            *row_end = slices.end(id).0;
        }
    }
}

#[test]
fn small_real_traces_match_their_facts() {
    check_folder(&fixtures(), &fixtures(), 44);
}

#[test]
#[ignore = "needs NEURONSCOPE_TRACES"]
fn large_traces_match_their_facts() {
    let dir = large_traces();
    check_folder(&dir, &dir.join("facts"), 1);
}

/// Every real file: its whole summary; for larger files only the names with the most time.
#[test]
fn summaries_of_real_files() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/formats");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        let mut names: Vec<String> = fs::read_dir(fixtures())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| ![".facts.json", ".md", ".csv", ".jsonl"].iter().any(|end| name.ends_with(end)))
            // JSON, but not a profile.
            .filter(|name| name != "catapult_google_cloud_trace.json")
            .collect();
        names.sort();
        assert!(names.len() >= 55, "only {} files", names.len());
        for name in names {
            let bytes = fs::read(fixtures().join(&name)).unwrap();
            let mut summary = OpenSummary::of(&read_bytes(&name, &bytes).unwrap());
            if bytes.len() >= 8_000 {
                summary.operators.truncate(8);
            }
            insta::assert_json_snapshot!(name.as_str(), summary);
        }
    });
}

/// Prints speeds, asserts none: `./x bench` runs it, with `NEURONSCOPE_TRACES=DIR` for real traces too.
#[test]
#[ignore = "prints measurements for `./x bench`"]
fn speed_of_reading_and_drawing() {
    measure("one million events made up", &million_events());
    let Ok(dir) = std::env::var("NEURONSCOPE_TRACES") else { return };
    let facts = Path::new(&dir).join("facts");
    for (name, bytes, facts) in traces_with_facts(Path::new(&dir), &facts) {
        if facts["bytes_uncompressed"].as_u64() > Some(5_000_000) {
            measure(&name, &bytes);
        }
    }
}

/// A million nested slices on two threads, about 120 bytes each.
fn million_events() -> Vec<u8> {
    let mut text = String::from("{\"traceEvents\":[\n");
    for i in 0..1_000_000u64 {
        let (outer, at) = (i / 10 * 40, i % 10);
        let (ts, dur) = if at == 0 { (outer, 35) } else { (outer + at * 3, 2) };
        let name = (i * 7919) % 500;
        let args = format!("{{\"External id\":{i},\"layer\":{}}}", i % 12);
        let event = format!(
            "{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op_{name}\",\"pid\":1,\"tid\":{},\"ts\":17121954{ts:08}.125,\"dur\":{dur}.5,\"args\":{args}}},\n",
            i % 2
        );
        text.push_str(&event);
    }
    text.push_str("{}]}");
    text.into_bytes()
}

#[allow(clippy::disallowed_methods, reason = "the one place that may look at a clock: it measures")]
fn measure(name: &str, bytes: &[u8]) {
    use neuronscope::analysis::operators::{OpQuery, operator_stats};
    use neuronscope::base::{Interval, TraceNs};
    use neuronscope::profile::lod::LodIndex;
    use std::time::Instant;

    let is_packed = bytes.starts_with(&[0x1f, 0x8b]);
    let plain = if is_packed { gunzip(bytes) } else { bytes.to_vec() };
    let text = plain.len() as f64 / 1e6;
    let ms = |from: Instant| from.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let profile = read_bytes(name, &plain).unwrap();
    let read = ms(start);
    let start = Instant::now();
    read_bytes(name, bytes).unwrap();
    let packed_ms = ms(start);
    let start = Instant::now();
    let ops = operator_stats(&profile, &OpQuery::default()).stats.len();
    let ops_ms = ms(start);
    let whole = Interval::new(profile.span().start, TraceNs(profile.span().end.0 + 1));
    let mut lod = LodIndex::new();
    let mut draw = || {
        let start = Instant::now();
        let runs: usize = profile.tracks().ids().map(|t| lod.query(&profile, t, whole, 2000).len()).sum();
        (ms(start), runs)
    };
    let (first_draw, _) = draw();
    let (draw_ms, runs) = draw();
    println!(
        "{name}: {text:.1} MB in {read:.0} ms ({:.0} MB/s, {:.2} M events/s), as it is packed {packed_ms:.0} ms; \
         store {:.1} MB, detail {:.1} MB; {ops} operators {ops_ms:.1} ms; draw first {first_draw:.1} ms, again \
         {draw_ms:.2} ms, {runs} runs",
        text / read * 1e3,
        profile.meta().events as f64 / read / 1e3,
        profile.bytes() as f64 / 1e6,
        lod.bytes() as f64 / 1e6,
    );
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    // Fixtures have a ten-byte header and perhaps a name.
    let body = if bytes[3] & 8 == 0 { 10 } else { 11 + bytes[10..].iter().position(|&b| b == 0).unwrap() };
    miniz_oxide::inflate::decompress_to_vec(&bytes[body..]).unwrap_or_else(|partial| partial.output)
}
