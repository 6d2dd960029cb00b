//! The profiler tutorial: the parameters of its call, what it prints, and which of our slices are those that it names.

use std::process::{Command, Output};

use serde_json::Value;

use crate::doc_tables::assert_written;
use crate::folder::Folder;
use neuronscope::analysis::lookup::TUTORIAL_NAMES;

fn profile(args: &[&str], cc_flags: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
    command.arg("profile").args(args).env("NEURON_CC_FLAGS", cc_flags).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The bytes that a run writes.
fn written(name: &str, args: &[&str]) -> Vec<u8> {
    let folder = Folder::new("profiler");
    let path = folder.join(name);
    let output = profile(&[args, &["--output", path.to_str().unwrap()]].concat(), "");
    assert!(output.status.success(), "{:?}", texts(&output));
    std::fs::read(path).unwrap()
}

#[test]
fn the_call_of_the_tutorial_runs_with_its_parameters() {
    let call = ["--port=9012", "--profile_type=operator", "--ms_duration=10000", "--verbosity=1", "--outputs"];
    let folder = Folder::new("compiler_cache");
    let cache = format!("--cache_dir={}", folder.display());
    let output = profile(&call, &cache);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(out.starts_with("Device window: 7."), "the run is lazy: {out}");
    for line in [
        &format!("NEURON_CC_FLAGS: {cache} is used: artifacts are kept there"),
        "note: the artifact is in ",
        "--port 9012 has no effect",
        "--ms-duration 10000: one execution is recorded",
        "Analyzing dependencies of Block1\n",
        "torch_neuron: Waiting for XLA profile completion ...\n",
        "/neuron_op_timeline.json'\n",
    ] {
        assert!(err.contains(line), "{line} is not in {err}");
    }
    assert!(!err.contains("Writing plane"), "nothing is written: {err}");
    let (out, _) = texts(&profile(&["--traced_only=True"], ""));
    assert!(out.starts_with("Device window: 4."), "the run is traced: {out}");
    let (_, err) = texts(&profile(&["--traced_only", "--workflow", "mark_step"], ""));
    assert!(err.contains("leave one of them out"), "{err}");
}

/// The device computes products of bf16, so it differs from the processor in the third or fourth digit, unless nothing is cast.
#[test]
fn both_outputs_are_printed_as_tensors() {
    let printed = |cc_flags: &str| {
        let (out, err) = texts(&profile(&["--outputs"], cc_flags));
        let (_, outputs) = out.split_once("\n==CPU OUTPUT==\n").unwrap_or_else(|| panic!("{out}{err}"));
        let (cpu, core) = outputs.split_once("\n==TRN1 OUTPUT==\n").unwrap();
        (cpu.trim_end().to_owned(), core.trim_end().replace(", device='xla:1'", ""), err)
    };
    let (cpu, core, _) = printed("");
    assert!(cpu.starts_with("tensor([[") && cpu.lines().count() == 4 && core != cpu, "{cpu}\n{core}");
    let (exact_cpu, exact, err) = printed("--auto-cast=none");
    assert!(err.contains("NEURON_CC_FLAGS: --auto-cast=none is used"), "{err}");
    assert_eq!((&exact_cpu, &exact), (&cpu, &cpu));
}

#[test]
fn the_run_folder_has_the_date_that_is_asked_for() {
    let export = ["--export", "tensorboard"];
    let names = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let dated = written("dated.zip", &[&export[..], &["--run-date", "2023-04-28T00:54:04"]].concat());
    let folder = "plugins/neuron/2023_04_28_00_54_54_04_";
    assert!(names(&dated).contains(folder));
    let chrome = names(&written("dated.json", &["--run-date", "2023-04-28T00:54:04"]));
    assert!(chrome.contains("\"neuronStartTimestampNs\":1682643244000000000"), "{chrome}");
    let fixed = written("fixed.zip", &export);
    assert!(names(&fixed).contains("plugins/neuron/2024_01_01_00_00_00_00_"));
    assert_eq!(fixed, written("again.zip", &export), "without a date the same command writes the same bytes");
    let (_, err) = texts(&profile(&["--run-date", "yesterday", "--output", "x"], ""));
    assert!(err.contains("write now, a day as 2023-04-28"), "{err}");
}

#[test]
fn an_exported_run_is_read_back_with_its_operators() {
    let folder = Folder::new("profiler");
    let path = folder.join("back.zip");
    let name = path.to_str().unwrap();
    assert!(profile(&["--export", "tensorboard", "--output", name, "--run-date", "now"], "").status.success());
    let open = |source: &str| {
        let args = ["operators", source, "--csv"];
        texts(&Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap()).0
    };
    let (ours, back) = (open("sim:nn"), open(name));
    assert!(ours.lines().count() == 4 && ours.contains("aten__addmm_dot"), "{ours}");
    assert_eq!(ours, back);
}

#[test]
fn a_trace_is_the_benchmark_run_of_the_duration() {
    let call = ["--profile-type", "trace", "--ms-duration", "50"];
    let trace: Value = serde_json::from_slice(&written("trace.json", &call)).unwrap();
    let named = |name: &str| trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["name"] == name).count();
    assert!(named("StepMarker") > 5, "{} steps", named("StepMarker"));
    let (_, err) = texts(&profile(&["--profile-type=trace"], ""));
    assert!(err.contains("name its file with --output"), "{err}");
}

/// A slice of Process Data Transfer.
struct Transfer {
    row: String,
    name: String,
    start_ns: u64,
    dur_ns: u64,
    /// Framework paths of the active operations, in the order of the file.
    members: Vec<String>,
}

fn transfers(workflow: &str) -> Vec<Transfer> {
    let trace: Value = serde_json::from_slice(&written(workflow, &["--workflow", workflow])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |kind: &str, of: &Value| {
        let is_it = |e: &&Value| {
            e["name"] == kind && e["pid"] == of["pid"] && (kind == "process_name" || e["tid"] == of["tid"])
        };
        events.iter().find(is_it).map_or("", |e| e["args"]["name"].as_str().unwrap())
    };
    let ns = |x: &Value| (x.as_f64().unwrap() * 1_000.0).round() as u64;
    let of_transfer = events.iter().filter(|e| e["ph"] == "X" && named("process_name", e) == "Process Data Transfer");
    let transfer = |e: &Value| {
        let paths = e["args"]["fused"].as_str().or(e["args"]["path"].as_str()).unwrap_or_default();
        Transfer {
            row: named("thread_name", e).to_owned(),
            name: e["name"].as_str().unwrap().to_owned(),
            start_ns: ns(&e["ts"]),
            dur_ns: ns(&e["dur"]),
            members: paths.split(",\n").map(str::to_owned).collect(),
        }
    };
    of_transfer.map(transfer).collect()
}

/// The slices of a row with the wanted members, as a cell of a table.
fn cell(slices: &[Transfer], row: &str, is_wanted: impl Fn(&[&str]) -> bool) -> String {
    let short = |path: &String| path.trim_start_matches("NN[model]/").to_owned();
    let mut found: Vec<&Transfer> = slices.iter().filter(|s| s.row == row).collect();
    found.retain(|s| is_wanted(&s.members.iter().map(String::as_str).collect::<Vec<_>>()));
    assert!(!found.is_empty(), "{row} has no such slice");
    let text = |s: &&Transfer| {
        let members: Vec<String> = s.members.iter().map(short).collect();
        format!("`{}` ({} ns, {} ns long): {}", s.name, s.start_ns, s.dur_ns, members.join(" + "))
    };
    found.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Which of our slices are those that the tutorial names.
#[test]
fn the_slices_of_the_tutorial_are_found() {
    const OPS: &str = "Framework Ops";
    let (lazy, traced) = (transfers("mark_step"), transfers("trace"));
    let (input, relu) = ("NN[model]/input", "NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum");
    let (add, dot) = ("NN[model]/Linear[layer1]/aten__addmm_add", "NN[model]/Linear[layer1]/aten__addmm_dot");
    let has_all =
        |members: &[&str], wanted: &[&str]| members.len() == wanted.len() && wanted.iter().all(|w| members.contains(w));
    let graphs: Vec<&str> =
        lazy.iter().map(|s| s.name.as_str()).filter(|n| n.starts_with("SyncTensorsGraph")).collect();
    let rows = [
        ("`SyncTensorsGraph.53`", format!("`{}`", graphs[0])),
        ("`Input` (0 ns), then `ReLU` (100 ns)", cell(&lazy, OPS, |m| m == [input, relu])),
        ("`fused_3` (8720 ns, 36 ns long): input + relu_maximum", cell(&lazy, OPS, |m| m == [input, relu])),
        (
            "`fused_16` (11452 ns, 153 ns long): addmm_add + input + addmm_dot",
            cell(&lazy, OPS, |m| has_all(m, &[add, input, dot])),
        ),
        (
            "`fused_18` (11811 ns), `fused_23` (12181 ns): loads of `Linear[layer1]` beside the input",
            cell(&lazy, OPS, |m| m.len() == 2 && m.contains(&input) && (m.contains(&add) || m.contains(&dot))),
        ),
        (
            "traced: `fused_19` (5824 ns): `Linear[layer1]` + `Tanh[nl2]`",
            cell(&traced, "Modules", |m| m == ["NN[model]/Linear[layer1]", "NN[model]/Tanh[nl2]"]),
        ),
    ];
    let mut table = "| in the tutorial | here: name (start, length): members |\n|---|---|\n".to_owned();
    rows.iter().for_each(|(theirs, ours)| table.push_str(&format!("| {theirs} | {ours} |\n")));
    assert_written("docs/porting.md", "slices of the profiling tutorial", &table);
    // A search for a name of the tutorial finds them.
    for (theirs, ours, _) in TUTORIAL_NAMES {
        let is_it = |(cell, found): &(&str, String)| {
            cell.contains(&format!("`{theirs}`")) && found.contains(&format!("`{ours}`"))
        };
        assert!(rows.iter().any(is_it), "{theirs} is not {ours}");
    }
    // The model has no slice of its own for a transpose or a broadcast: docs/porting.md says where they are.
    for slices in [&lazy, &traced] {
        assert!(!slices.iter().any(|s| s.name.starts_with("aten__") && (s.name.contains("transpose") || s.name.contains("broadcast"))));
    }
}
