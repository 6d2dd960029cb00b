//! Formats without a real file here: small texts made from their documentation, and their expected results.

use std::fs;
use std::path::Path;

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::Profile;
use neuronscope::profile::flows::FlowIndex;
use neuronscope::profile::neuron::{OperatorView, operator_table};

use crate::open_text::{format, open, rows};

#[test]
fn safari_recordings() {
    let profile = open(
        r#"{"version":1,"recording":{"displayName":"Page","startTime":1,"endTime":1.01,
        "sampleStackTraces":[{"timestamp":1.001,"stackFrames":[{"name":"f","url":"a.js","line":3},{"name":"main"}]},
        {"timestamp":1.002,"stackFrames":[{"name":"main"}]}],"sampleDurations":[0.001,0.001]}}"#,
    );
    assert_eq!(format(&profile), ("safari-recording".into(), 2));
    assert_eq!(rows(&profile), ["Page/JavaScript main 1000000+2000000", "Page/JavaScript f 1000000+1000000"]);
    assert_eq!(profile.span_ns(), 10_000_000);
}

#[test]
fn stackprof_runs_and_sums() {
    let head = r#"{"version":1.2,"mode":"cpu","interval":1000,"samples":3,"frames":{"10":{"name":"A#a","file":"a.rb","line":1,"samples":1},
        "20":{"name":"B#b","samples":2}}"#;
    let profile = open(&format!("{head},\"raw\":[2,10,20,2,1,10,1]}}"));
    assert_eq!(format(&profile), ("stackprof".into(), 3));
    assert_eq!(rows(&profile), ["Ruby/stackprof cpu A#a 0+3000000", "Ruby/stackprof cpu B#b 0+2000000"]);
    let flat = open(&format!("{head}}}"));
    assert_eq!(rows(&flat), ["Ruby/stackprof cpu A#a 0+1000000", "Ruby/stackprof cpu B#b 1000000+2000000"]);
    assert_eq!(flat.diagnostics().items()[0].code, "no_stacks");
}

#[test]
fn speedscope_events_and_units() {
    let profile = open(
        r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[
        {"type":"evented","name":"t","unit":"milliseconds","startValue":10,"endValue":20,"events":[
        {"type":"O","frame":0,"at":10},{"type":"O","frame":1,"at":11.0000005},{"type":"C","frame":1,"at":12},{"type":"C","frame":0,"at":20},{"type":"O","frame":9,"at":1}]}]}"#,
    );
    assert_eq!(rows(&profile), ["(no process id)/t a 0+10000000", "(no process id)/t b 1000000+1000000"]);
    assert_eq!(profile.diagnostics().count("bad_sample"), 1);
}

#[test]
fn memory_timeline_tables() {
    let profile = open("[[5,7],[[0,100,0,0,0,0,0,0,8],[0,200,0,0,0,0,0,0,8]]] ");
    assert_eq!(format(&profile), ("memory-timeline".into(), 2));
    let counters = profile.counters();
    let first = counters.series().ids().next().unwrap();
    assert_eq!(counters.samples(first).map(|(t, v)| (t.0, v)).collect::<Vec<_>>(), [(0, 100.0), (2000, 200.0)]);
}

#[test]
fn rocprof_kernels_and_their_calls() {
    let profile = open(
        r#"{"rocprofiler-sdk-tool":[{"metadata":{"pid":42},"agents":[{"id":{"handle":7},"product_name":"MI300","logical_node_id":1}],
        "strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"HIP_API","operations":["hipA","hipLaunchKernel"]}]},
        "kernel_symbols":[{"kernel_id":5,"formatted_kernel_name":"gemm"}],
        "buffer_records":{"hip_api":[{"kind":1,"operation":1,"thread_id":9,"correlation_id":{"internal":3},"start_timestamp":100,"end_timestamp":150}],
        "kernel_dispatch":[{"kind":0,"operation":0,"correlation_id":{"internal":3},"start_timestamp":160,"end_timestamp":260,
        "dispatch_info":{"agent_id":{"handle":7},"queue_id":{"handle":2},"kernel_id":5}}]}}]}"#,
    );
    assert_eq!(format(&profile), ("rocprof".into(), 2));
    assert_eq!(rows(&profile), ["Host process 42/Thread 9 hipLaunchKernel 0+50", "MI300 (node 1)/Queue 2 gemm 60+100"]);
    assert_eq!(FlowIndex::new(&profile).len(), 1);
}

#[test]
fn the_files_of_neuron_tools() {
    let ops = open(
        r#"{"ops":[{"op_name":"dot","op_time":279,"op_device":0,"op_core":1},{"op_name":"tanh","op_time":159,"op_core":1},{"x":1}],"total_time":438}"#,
    );
    assert_eq!(format(&ops), ("neuron-operators".into(), 3));
    assert!(rows(&ops).is_empty(), "a table does not say when");
    let table = operator_table(&ops, OperatorView::Hlo);
    assert_eq!(
        table.iter().map(|r| (&*r.name, r.core, r.time_ns)).collect::<Vec<_>>(),
        [("dot", 1, 279), ("tanh", 1, 159)]
    );
    assert_eq!(ops.diagnostics().count("bad_operator"), 1);

    let device = open(
        r#"{"summary":[{"total_time":1e-6}],"instruction":[{"timestamp":5,"duration":10,"label":"TensorMatrix","opcode":"MATMUL","hlo_name":"dot.1"}],
        "dma":[{"timestamp":0,"duration":4,"label":"q0","name":"load"}],"hbm":[{"timestamp":2,"value":3.5}]}"#,
    );
    assert_eq!(format(&device), ("neuron-profile".into(), 3));
    assert_eq!(rows(&device), ["Neuron device/TensorMatrix MATMUL 5+10", "Neuron device DMA/q0 load 0+4"]);
    assert_eq!((device.counters().sample_count(), device.meta().properties[0].0.as_str()), (1, "summary"));

    let system = open(
        r#"{"trace_events":[{"timestamp":1700000000000000123,"duration":7,"name":"nrt_execute","group":"nrt-nc-000","instance_id":"i-1","process_id":8,"thread_id":9}],
        "mem_usage":[{"timestamp":1700000000000000130,"usage":1024,"instance_id":"i-1"}],"cpu_util":[]}"#,
    );
    assert_eq!(system.meta().origin_ns, 1_700_000_000_000_000_123);
    assert_eq!(rows(&system), ["Process 8 on i-1/nrt-nc-000 nrt_execute 0+7"]);

    let summary = open(r#"{"n1_s0":{"total_time":0.0020699,"mfu_estimated_percent":36.94,"nc_idx":0}}"#);
    assert_eq!(rows(&summary), ["Neuron summary/n1_s0 n1_s0 0+2069900"]);
}

#[test]
fn stacks_of_chrome_events() {
    let profile = open(
        r#"{"traceEvents":[{"ph":"X","ts":1,"dur":5,"name":"x","pid":1,"tid":1,"sf":"3"},{"ph":"P","ts":2,"name":"s","pid":1,"tid":1,"sf":3},
        {"ph":"P","ts":4,"name":"s","pid":1,"tid":1,"sf":2}],"stackFrames":{"2":{"name":"main"},"3":{"name":"f","parent":2}},"otherData":{"v":"1"}}"#,
    );
    let id = profile.slices().ids().next().unwrap();
    assert_eq!(profile.args().get(profile.slices().args(id)), r#"{"stack":["main","f"]}"#);
    assert_eq!(
        rows(&profile)[1..],
        ["Process 1/Thread 1 samples main 1000+4000", "Process 1/Thread 1 samples f 1000+2000"]
    );
    assert_eq!(profile.own_slice_count(), 1);
    assert_eq!(profile.meta().properties, [("otherData".to_owned(), r#"{"v":"1"}"#.to_owned())]);
    let again = read_bytes("again", &WriteFormat::Chrome.write(&profile)).unwrap();
    assert_eq!(rows(&again), rows(&profile));
    assert!(again.meta().properties.contains(&profile.meta().properties[0]));
}

#[test]
fn profiles_of_v8_in_parts() {
    let profile = open(
        r#"[{"ph":"X","ts":90,"dur":100,"pid":1,"tid":1,"name":"task"},
        {"ph":"P","name":"Profile","id":"0x1","ts":100,"pid":1,"tid":1,"args":{"data":{"startTime":100}}},
        {"ph":"P","name":"ProfileChunk","id":"0x1","ts":120,"pid":1,"tid":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},
        {"id":2,"parent":1,"callFrame":{"functionName":"f"}}],"samples":[2,1]},"timeDeltas":[5,10]}}},
        {"ph":"P","name":"ProfileChunk","id":"0x1","ts":140,"pid":1,"tid":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":3,"parent":2,"callFrame":{"functionName":"g"}}],
        "samples":[3]},"timeDeltas":[5],"endTime":130}}}]"#,
    );
    assert_eq!(
        rows(&profile)[1..],
        [
            "Process 1/Thread 1 samples f 15000+10000",
            "Process 1/Thread 1 samples f 30000+10000",
            "Process 1/Thread 1 samples g 30000+10000"
        ]
    );
    assert_eq!((profile.span_ns(), profile.own_slice_count()), (100_000, 1));
}

#[test]
fn arrays_behind_arrays_and_events_on_lines() {
    let event = |ts: u32| format!(r#"{{"ph":"X","ts":{ts},"dur":1,"name":"a","pid":1,"tid":1}}"#);
    assert_eq!(open(&format!("[{}]\n[{}]", event(1), event(2))).slices().len(), 2);
    assert_eq!(
        open(&format!("{{\"traceEvents\":[{}]}}{{\"traceEvents\":[{}]}}", event(1), event(2))).slices().len(),
        2
    );
    let lines = open(&format!("{}\n{}\n{}\n", event(1), event(2), event(3)));
    assert_eq!((lines.slices().len(), lines.diagnostics().items().len()), (3, 0));
    let utf16: Vec<u8> = format!("\u{feff}[{}]", event(7)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_bytes("utf16", &utf16).unwrap().slices().len(), 1);
}

/// Inputs that once failed, and the first inputs of the fuzz targets: they are read or refused, and profiles are written.
#[test]
fn found_inputs_end() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/fuzz");
    let mut seen = 0;
    for entry in fs::read_dir(dir).unwrap() {
        seen += 1;
        let Ok(profile) = read_bytes("fuzz", &fs::read(entry.unwrap().path()).unwrap()) else { continue };
        let _ = OpenSummary::of(&profile);
        for format in WriteFormat::ALL {
            let _ = format.write(&profile);
        }
        let written = WriteFormat::Chrome.write(&profile);
        assert!(WriteFormat::Chrome.write(&read_bytes("fuzz", &written).unwrap()) == written);
    }
    assert!(seen > 0);
}

#[test]
fn memory_events_of_pytorch_are_counters() {
    let event = |ts: u32, args: &str| {
        format!(r#"{{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":{ts},"args":{{{args}}}}}"#)
    };
    let gpu = |ts, bytes: i64, allocated, reserved: i64| {
        let totals = format!(r#""Total Allocated":{allocated},"Total Reserved":{reserved}"#);
        event(ts, &format!(r#""Bytes":{bytes},"Device Type":1,"Device Id":0,"Addr":7,{totals}"#))
    };
    let cpu = |ts, bytes: i64| event(ts, &format!(r#""Bytes":{bytes},"Device Type":0,"Device Id":-1"#));
    // The releases come before what they release in the file, as threads write them.
    let all = [gpu(10, 64, 1064, 4096), cpu(30, -8), cpu(20, 16), gpu(40, -64, 1000, 4096), event(50, r#""x":"y""#)];
    let profile = open(&format!(r#"{{"traceEvents":[{}]}}"#, all.join(",")));
    let samples = |profile: &Profile| -> Vec<(String, Vec<(i64, f64)>)> {
        let counters = profile.counters();
        let name = |id| {
            let series = &counters.series()[id];
            format!("{} {}", profile.str(counters.counters()[series.counter].name), profile.str(series.key))
        };
        counters.series().ids().map(|id| (name(id), counters.samples(id).map(|(t, v)| (t.0, v)).collect())).collect()
    };
    let found = samples(&profile);
    assert_eq!(
        found,
        [
            ("Allocator of CPU (bytes) allocated since the start".to_owned(), vec![(10_000, 16.0), (20_000, 8.0)]),
            ("Allocator of CUDA 0 (bytes) allocated".to_owned(), vec![(0, 1064.0), (30_000, 1000.0)]),
            ("Allocator of CUDA 0 (bytes) reserved".to_owned(), vec![(0, 4096.0), (30_000, 4096.0)]),
        ]
    );
    // The instants stay, and a file that is written and opened again has each sample once.
    assert_eq!(profile.instants().len(), 5);
    assert_eq!(samples(&read_bytes("again", &WriteFormat::Chrome.write(&profile)).unwrap()), found);
}

#[test]
fn the_memory_of_a_device_by_operator_and_step() {
    let slice = |ts: u32, dur: u32, name: &str, cat: &str| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"{cat}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{}}}}"#)
    };
    let memory = |ts: u32, bytes: i64, allocated: i64| {
        let args = format!(
            r#""Bytes":{bytes},"Device Type":1,"Device Id":0,"Total Allocated":{allocated},"Total Reserved":4096"#
        );
        format!(r#"{{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":{ts},"args":{{{args}}}}}"#)
    };
    let all = [
        slice(0, 100, "ProfilerStep#1", "user_annotation"),
        slice(100, 100, "ProfilerStep#2", "user_annotation"),
        slice(10, 50, "aten::linear", "cpu_op"),
        slice(20, 30, "aten::empty", "cpu_op"),
        memory(30, 512, 1512),
        memory(55, 100, 1612),
        memory(80, -512, 1100),
        memory(150, 24, 1124),
    ];
    let profile = open(&format!(r#"{{"traceEvents":[{}]}}"#, all.join(",")));
    let found = serde_json::to_value(OpenSummary::of(&profile)).unwrap()["memory"].clone();
    let operator = |name: &str, allocations: u32, bytes: u32, self_bytes: u32, largest: u32| serde_json::json!({"name": name, "allocations": allocations, "bytes": bytes, "self_bytes": self_bytes, "largest": largest});
    let expected = serde_json::json!([{
        "device": "CUDA 0", "process": "Process 1", "is_since_start": false,
        "allocated": {"first": 1512, "last": 1124, "peak": 1612, "peak_at_ns": 55_000},
        "reserved": {"first": 4096, "last": 4096, "peak": 4096, "peak_at_ns": 30_000},
        "allocations": 3, "releases": 1, "allocated_bytes": 636,
        "operators": [operator("aten::linear", 2, 612, 100, 512), operator("aten::empty", 1, 512, 512, 512), operator("", 1, 24, 24, 24)],
        "steps": [
            {"name": "ProfilerStep#1", "growth": 100, "peak": 1612, "start_ns": 0},
            {"name": "ProfilerStep#2", "growth": 24, "peak": 1124, "start_ns": 100_000},
        ],
    }]);
    assert_eq!(found, expected, "{found:#}");
}

#[test]
fn the_memory_of_the_sample_is_what_its_events_say() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/traces/tracelens_bert_small_mi300.json.gz");
    let packed = fs::read(path).unwrap();
    let profile = read_bytes("sample", &packed).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&crate::formats::gunzip(&packed)).unwrap();
    let events = file["traceEvents"].as_array().unwrap().iter().filter(|e| e["name"] == "[memory]");
    let of_device: Vec<&serde_json::Value> = events.map(|e| &e["args"]).filter(|a| a["Device Id"] == 0).collect();
    let all = OpenSummary::of(&profile).memory;
    let gpu = all.iter().find(|m| m.device == "HIP 0").unwrap();
    let bytes = || of_device.iter().map(|a| a["Bytes"].as_i64().unwrap());
    assert_eq!(i64::try_from(gpu.allocated_bytes).unwrap(), bytes().filter(|b| *b > 0).sum::<i64>());
    assert_eq!((gpu.allocations + gpu.releases) as usize, of_device.len());
    let most = |key: &str| of_device.iter().map(|a| a[key].as_i64().unwrap()).max();
    assert_eq!(gpu.allocated.map(|level| level.peak), most("Total Allocated"));
    assert_eq!(gpu.reserved.map(|level| level.peak), most("Total Reserved"));
    assert_eq!(gpu.operators.iter().map(|o| o.self_bytes).sum::<u64>(), gpu.allocated_bytes);
    assert_eq!(gpu.steps.len(), 1);
}
