//! The kernel's log inside a Chrome trace (`systemTraceEvents`): its rows beside the events, and how its clock is found.

use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::Profile;

use crate::open_text::{codes, open, rows};

/// Marks of a thread that also has an event, and what ran on a processor.
const LINES: [&str; 6] = [
    "# tracer: nop",
    "  app-12 (   7) [000] ...1 100.000010: tracing_mark_write: B|7|draw",
    "  app-12 (   7) [000] ...1 100.000030: tracing_mark_write: E",
    "<idle>-0 (-----) [001] d..3 100.000015: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=my app next_pid=12 next_prio=120",
    "app-12 (   7) [001] d..3 100.000025: sched_switch: prev_comm=my app prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120",
    "",
];

/// A trace with one event at `ts` us, and the log with a line before the others.
fn trace(ts: u64, events: &str, first_line: &str) -> String {
    let log: Vec<&str> = std::iter::once(first_line).chain(LINES).collect();
    let log = serde_json::Value::from(log.join("\n"));
    format!(
        r#"{{"systemTraceEvents":{log},"traceEvents":[{{"ph":"M","pid":7,"name":"process_name","args":{{"name":"App"}}}},
        {{"ph":"X","pid":7,"tid":12,"ts":{ts},"dur":50,"name":"task"}}{events}]}}"#
    )
}

fn sync(mark: &str) -> String {
    format!("  sh-3 (   3) [000] ...1 100.000000: tracing_mark_write: trace_event_clock_sync: {mark}")
}

/// The expected rows if 100 s in the log are `at_ns` after the start of the event.
fn placed(at_ns: i64) -> [String; 3] {
    let task = i64::min(0, at_ns + 10_000);
    [
        format!("App/Thread 12 task {}+50000", -task),
        format!("App/app (kernel log) draw {}+20000", at_ns + 10_000 - task),
        format!("CPU/CPU 1 my app {}+10000", at_ns + 15_000 - task),
    ]
}

fn sorted(profile: &Profile) -> Vec<String> {
    let mut rows = rows(profile);
    rows.sort_by_key(|row| (row.starts_with("CPU"), row.contains("log")));
    rows
}

#[test]
fn a_mark_with_the_time_of_the_events_places_the_log() {
    // 100 s of the kernel are 5 s of the events, which begin 5 us later.
    let profile = open(&trace(5_000_005, "", &sync("parent_ts=5.0")));
    assert_eq!(sorted(&profile), placed(-5_000));
    assert_eq!((codes(&profile), profile.meta().events), (vec![], 7));
    assert!(profile.meta().properties.is_empty(), "the log is rows now");
    // Zero means that both clocks are the same.
    let same = open(&trace(100_000_000, "", &sync("parent_ts=0")));
    assert_eq!((sorted(&same), codes(&same)), (placed(0).to_vec(), vec![]));
}

#[test]
fn a_mark_with_a_name_is_found_among_the_events() {
    let event =
        r#",{"ph":"c","pid":7,"tid":12,"ts":9000010,"name":"clock_sync","args":{"sync_id":"ab-1","issue_ts":9000000}}"#;
    let profile = open(&trace(9_000_000, event, &sync("name=ab-1")));
    assert_eq!((sorted(&profile), codes(&profile)), (placed(0).to_vec(), vec![]));
}

#[test]
fn unrelated_clocks_are_reported() {
    let codes_of = |profile: &Profile| codes(profile).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    // A log far from the events is shown from the first event on; a log that overlaps them keeps its times.
    let far = open(&trace(5_000_000, "", "#"));
    assert_eq!((sorted(&far), codes_of(&far)), (placed(-10_000).to_vec(), vec!["clocks_not_aligned".to_owned()]));
    let over = open(&trace(100_000_000, "", "#"));
    assert_eq!((sorted(&over), codes_of(&over)), (placed(0).to_vec(), vec!["clocks_not_aligned".to_owned()]));
}

#[test]
fn written_files_keep_their_rows_and_cut_files_their_front() {
    let text = trace(100_000_000, "", &sync("parent_ts=0"));
    let profile = open(&text);
    let written = WriteFormat::Chrome.write(&profile);
    assert_eq!(sorted(&read_bytes("again", &written).unwrap()), sorted(&profile));

    let log = serde_json::Value::from(LINES.join("\n")).to_string();
    let events =
        r#"{"traceEvents":[{"ph":"X","pid":7,"tid":12,"ts":100000000,"dur":50,"name":"task"}],"systemTraceEvents":"#;
    for cut in 0..log.len() {
        let cut_off = open(&format!("{events}{}", &log[..cut]));
        assert!(cut_off.slices().len() <= 3 && cut_off.diagnostics().count("not_closed") == 1, "{cut}");
    }
    assert_eq!(open(&format!("{events}{}", &log[..log.len() - 3])).slices().len(), 3);
}

#[test]
fn logs_of_other_systems_are_read() {
    let etw = r#"{"name":"ETW","content":[1]}"#;
    let profile = open(&format!(r#"{{"traceEvents":[{{"ph":"i","ts":1}}],"systemTraceEvents":{etw}}}"#));
    assert_eq!(codes(&profile), [("system_trace".to_owned(), 1)]);
    assert_eq!(profile.meta().properties, [("systemTraceEvents".to_owned(), etw.to_owned())]);
    for empty in ["\"\"", "[]", "{}", "null"] {
        let profile = open(&format!(r#"{{"traceEvents":[{{"ph":"i","ts":1}}],"systemTraceEvents":{empty}}}"#));
        assert!(profile.diagnostics().is_empty(), "{empty}");
    }
}
