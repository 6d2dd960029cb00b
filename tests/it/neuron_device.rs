//! Profiles of a device as `neuron-profile` writes them: the figures that follow from the rows, every list, and damage.

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::analysis::work::{Work, Works};
use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::Profile;
use serde_json::{Value, json};

use crate::open_text::codes;

/// A made profile whose times are worked out by hand beside the tests.
fn made() -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/neuron/device.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn open(file: &Value) -> Profile {
    read_bytes("device.json", &serde_json::to_vec(file).unwrap()).unwrap()
}

fn example(profile: &Profile, code: &str) -> String {
    let found = profile.diagnostics().items().iter().find(|d| d.code == code);
    found.unwrap_or_else(|| panic!("no {code} in {:?}", codes(profile))).first_example.clone()
}

/// The figures of the made profile. Tensor: 100,100 to 100,550. Scalar: the drain, the table, and from 100,500 to 100,930. DMA:
/// 200 to 400 and 120 ns. The head: from 10 to 100,000, less 10 ns and 30 to 400.
fn figures() -> Value {
    json!({
        "total_active_time_ns": 10 + 370 + 830 + 160 + 10,
        "dma_active_time_ns": 200 + 120,
        "idle_head_ns": 99_990 - 10 - 370,
        "engines": {
            "tensor": {"active_time_ns": 450},
            "vector": {"active_time_ns": 90},
            "scalar": {"active_time_ns": 10 + 300 + 430},
            "gpsimd": {"active_time_ns": 60},
            "sync": {"active_time_ns": 40 + 10},
        },
    })
}

#[test]
fn the_figures_follow_from_the_rows_and_the_summary_is_the_files() {
    let file = made();
    let summary = serde_json::to_value(OpenSummary::of(&open(&file))).unwrap();
    assert_eq!(summary["device"], figures());
    assert_eq!(summary["summary"], file["summary"][0]);
    // A file that is written and opened again is the profile of a device still.
    let again = read_bytes("again", &WriteFormat::Chrome.write(&open(&file))).unwrap();
    assert_eq!(serde_json::to_value(OpenSummary::of(&again)).unwrap()["device"], figures());
    // The keys are those of devices only.
    let other = read_bytes("other", br#"{"traceEvents":[{"ph":"X","ts":1,"dur":5,"name":"x"}],"summary":{"a":1}}"#);
    let other = serde_json::to_value(OpenSummary::of(&other.unwrap())).unwrap();
    assert!(other.get("device").is_none() && other.get("summary").is_none());
}

#[test]
fn nothing_of_the_file_is_lost() {
    let (file, profile) = (made(), open(&made()));
    assert_eq!(codes(&profile), [("profiler_warning".to_owned(), 1), ("partial_overlap".to_owned(), 2)]);
    let counters = profile.counters();
    let name = |id| {
        let counter = &counters.counters()[counters.series()[id].counter];
        format!("{} {}", profile.str(counter.name), profile.str(counters.series()[id].key))
    };
    let mut names: Vec<_> = counters.series().ids().map(name).collect();
    names.dedup();
    for wanted in [
        "Pending DMA value",
        "Semaphores S[8] (qSyncSpillReload0)",
        "DMA throughput (bytes/s) transfer_rate",
        "DMA total (bytes) total_transfer_bytes",
        "On-chip memory in use (share) usage_avg",
        "Device memory (bytes) Weights",
    ] {
        assert!(names.iter().any(|n| n == wanted), "{wanted} is not in {names:?}");
    }
    let slices = profile.slices();
    let row = |id| (profile.track_label(slices.track(id)), profile.str(slices.name(id)).to_owned(), slices.dur_ns(id));
    let rows: Vec<_> = slices.ids().map(row).collect();
    for (track, name, ns) in [
        ("Throttle", "limit 7 of 8", 45),
        ("Throttle", "no limit", 955),
        ("Subgraphs", "/sg00", 101_200),
        ("Layers", "/sg00/_dot.3", 100_870),
        ("Tensor active", "active", 450),
        ("qSyncSpillReload0-Q1-E0", "identity_52", 150),
        ("Q0-E0", "dma", 120),
    ] {
        assert!(rows.contains(&(track.to_owned(), name.to_owned(), ns)), "{track} {name} is not in {rows:?}");
    }
    // Lists without times are properties, and a list is a slice, a counter, a diagnostic or a property.
    let as_rows = ["instruction", "dma", "ham", "active_time", "layer_summary", "instruction_usage", "nc_mem_usage"];
    let as_values = ["dma_throughput", "pending_dma", "semaphore_update"];
    for (list, rows) in file.as_object().unwrap() {
        let property = profile.meta().properties.iter().find(|(key, _)| key == list);
        match property {
            Some((_, json)) => assert_eq!(serde_json::from_str::<Value>(json).unwrap(), *rows, "{list}"),
            None => assert!(as_rows.contains(&&**list) || as_values.contains(&&**list), "{list} is lost"),
        }
    }
}

#[test]
fn waits_and_the_idle_head_are_no_work() {
    let profile = open(&made());
    let works = Works::of(&profile);
    let slices = profile.slices();
    let of = |name: &str| -> Vec<Option<Work>> {
        let ids = slices.ids().filter(|id| profile.str(slices.name(*id)) == name);
        ids.map(|id| works.of_slice(&profile, slices.track(id), id)).collect()
    };
    assert_eq!(of("EVENT_SEMAPHORE"), [Some(Work::Wait); 2]);
    assert_eq!(of("DRAIN"), [Some(Work::Wait); 2]);
    assert_eq!(of("MATMUL"), [Some(Work::Compute); 2]);
    // The table is loaded, and the weights move, before the host starts the work; the runtime clears semaphores after it.
    assert_eq!(of("ACT_TABLE_LOAD"), [Some(Work::Marker)]);
    assert_eq!(of("identity_52"), [Some(Work::Marker); 2]);
    assert_eq!(of("EVENT_SEMAPHORE_RANGE_CLEAR"), [Some(Work::Marker)]);
    assert_eq!(of("dma"), [Some(Work::Transfer)]);

    let levels = profile.levels();
    assert_eq!(levels.name(levels.default_level()), "engines");
    let of_json = OpenSummary::of(&profile).operators;
    let place = |name: &str| of_json.iter().position(|o| o.name == name).unwrap();
    assert!(place("EVENT_SEMAPHORE") > place("MATMUL") && place("DRAIN") > place("LDWEIGHTS"), "{of_json:?}");
}

#[test]
fn a_clock_that_runs_backwards_is_said() {
    let mut file = made();
    file["instruction"][2]["timestamp"] = json!(55);
    let profile = open(&file);
    assert_eq!(profile.diagnostics().count("time_backwards"), 1);
    assert!(example(&profile, "time_backwards").contains("\"Scalar\" runs backwards from 60 to 55 ns"));
    let mut file = made();
    file["metadata"][0]["last_hw_timestamp"] = json!(-1);
    file["dma"][0]["duration"] = json!(-5);
    file["active_time"][0] = json!({"engine": "tensor", "start_ts": 9, "end_ts": 3});
    let profile = open(&file);
    assert!(example(&profile, "time_backwards").contains("begins at 0 and ends at -1 ns"));
    assert_eq!(profile.diagnostics().count("negative_duration"), 2);
}

#[test]
fn a_profile_without_a_summary_has_the_figures_of_its_rows() {
    for without in [Value::Null, json!([]), json!([{}]), json!("x")] {
        let mut file = made();
        file["summary"] = without.clone();
        let profile = open(&file);
        assert_eq!(profile.diagnostics().count("no_summary"), 1, "{without}");
        let summary = serde_json::to_value(OpenSummary::of(&profile)).unwrap();
        assert_eq!((summary["device"].clone(), summary.get("summary")), (figures(), None), "{without}");
    }
}

#[test]
fn a_summary_that_contradicts_its_rows_is_said_with_both_figures() {
    let mut file = made();
    file["summary"][0]["tensor_engine_active_time"] = json!(9.0e-6);
    file["summary"][0]["dma_active_time"] = json!(1e-9);
    file["summary"][0]["sync_engine_instruction_count"] = json!(4);
    let profile = open(&file);
    assert_eq!(profile.diagnostics().count("summary_contradicts"), 3);
    let said = example(&profile, "summary_contradicts");
    for figures in [
        "tensor_engine_active_time is 9000 ns by the summary and 450 ns by the rows",
        "dma_active_time is 1 ns by the summary and 320 ns by the rows",
        "sync_engine_instruction_count is 4 by the summary and 3 by the rows",
    ] {
        assert!(said.contains(figures), "{said}");
    }
    assert_eq!(serde_json::to_value(OpenSummary::of(&profile)).unwrap()["device"], figures());
}

#[test]
fn damaged_lists_are_read_as_far_as_they_go() {
    for (list, row, code) in [
        ("pending_dma", json!({"timestamp": 5}), "no_value"),
        ("nc_mem_usage", json!({"usage_type": "IO"}), "no_value"),
        ("ham", json!({"k": 1, "n": 8}), "no_time"),
        ("instruction", json!({"opcode": "MATMUL", "label": "Tensor"}), "no_time"),
        ("dma_throughput", json!({"transfer_rate": 1}), "no_time"),
    ] {
        let mut file = made();
        file[list].as_array_mut().unwrap().push(row);
        let profile = open(&file);
        assert_eq!(profile.diagnostics().count(code), 1, "{list}: {:?}", codes(&profile));
    }
    // A file without instructions has no device times, and the reader does not fail.
    for text in [r#"{"instruction":[]}"#, r#"{"instruction":[null,3,{}],"dma":{},"summary":3,"ham":[[]]}"#] {
        let profile = read_bytes("made", text.as_bytes()).unwrap();
        assert_eq!(OpenSummary::of(&profile).device, None, "{text}");
    }
}
