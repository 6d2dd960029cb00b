//! A step of one model costs the same whoever is asked: `bench`, `matmult`, `experiment`, `customop`, `profile`, `trace`.

use std::path::Path;
use std::process::Command;

use neuronscope::base::SimTime;
use neuronscope::compiler::Workflow;
use neuronscope::device::Device;
use neuronscope::neuron::step::{StepCosts, Waits};
use serde_json::Value;

use crate::folder::Folder;

const INSTANCE: &str = "trn1.2xlarge";

fn stdout(folder: &Path, line: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&stdout(folder, line)).unwrap()
}

fn step(model: &str, batch: u32, workflow: Workflow) -> StepCosts {
    let device = Device::of_instance(INSTANCE).unwrap();
    device.step(&device.compilation(model, Some(batch), workflow).unwrap(), workflow).unwrap()
}

/// The number, in thousandths of a millisecond as reports have it.
fn ms(time: SimTime) -> f64 {
    (time.to_ms_f64() * 1e3).round() / 1e3
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// What `bench` with one worker, `matmult` and `profile` say of a step, compared with the step itself.
fn asked_of_the_commands_that_take_any_model(folder: &Path, model: &str, batch: u32, workflow: Workflow) {
    let step = step(model, batch, workflow);
    let waited = ms(step.time(Waits::ForEachResult));
    let name = workflow.name();

    let bench = format!(
        "bench --model {model} --workflow {name} --instance {INSTANCE} --batch-sizes {batch} --n-models 1 \
         --workers-per-model 1 --jitter 0 --duration 2 --json"
    );
    let row = &json(folder, &bench)["reports"][0];
    assert_eq!(number(row, "latency_ms_p50"), waited, "{bench}");
    let parts = ["host", "link", "device", "wait"].map(|part| number(row, &format!("call_{part}_ms")));
    assert_eq!(parts, [ms(step.host()), ms(step.link), ms(step.device()), 0.0], "{bench}");

    for (flags, waits) in [("--sync", Waits::ForEachResult), ("", Waits::Never)] {
        let matmult = format!(
            "matmult --model {model} --batch_size {batch} --workflow {name} --instance {INSTANCE} --jitter 0 \
             --num_timed_iterations 5 {flags} --json"
        );
        let report = &json(folder, &matmult)["reports"][0];
        let exact = step.time(waits).to_secs_f64();
        assert!((number(report, "iteration_s") / exact - 1.0).abs() < 1e-9, "{matmult}: {report}");
        assert!((number(report, "host_s") / step.host().to_secs_f64() - 1.0).abs() < 1e-9, "{matmult}: {report}");
    }

    let profile =
        format!("profile --model {model} --batch-size {batch} --workflow {name} --instance {INSTANCE} --json");
    let profiled = &json(folder, &profile)["step"];
    for (key, time) in [
        ("host_ms", step.host()),
        ("record_ms", step.record),
        ("link_ms", step.link),
        ("device_ms", step.device()),
        ("waited_ms", step.time(Waits::ForEachResult)),
        ("ahead_ms", step.time(Waits::Never)),
    ] {
        assert!((number(profiled, key) - time.to_ms_f64()).abs() < 1e-6, "{profile}: {key} in {profiled}");
    }
}

#[test]
fn bench_matmult_experiment_and_profile_have_one_step_of_a_network() {
    let f = Folder::new("resnet");
    for workflow in Workflow::ALL {
        asked_of_the_commands_that_take_any_model(&f, "resnet50", 1, workflow);
        let step = step("resnet50", 1, workflow);
        let dynamo = if workflow == Workflow::Trace { "openxla" } else { "None" };
        for iterations in [1, 3] {
            stdout(
                &f,
                &format!(
                    "experiment --suite-name torchbench -k ^resnet50$ --accelerator trn1 --xla PJRT --dynamo {dynamo} --test eval \
                     --batch-size 1 --repeat 3 --iterations-per-run {iterations} --no-resume"
                ),
            );
            let records = std::fs::read_to_string(f.join("output/results.jsonl")).unwrap();
            let record: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
            let total = record["metrics"]["total_time"].as_array().unwrap();
            let exact = step.run(iterations).to_secs_f64();
            assert!((total[1].as_f64().unwrap() / exact - 1.0).abs() < 1e-9, "{record}");
        }
    }
}

#[test]
fn a_network_with_a_custom_operator_has_one_step_per_workflow() {
    let f = Folder::new("kernel");
    for kernel in ["relu-tcm", "relu-multicore"] {
        let report = json(&f, &format!("customop --kernel {kernel} --json"));
        let steps = report["steps"].as_array().unwrap();
        assert_eq!(steps.len(), Workflow::ALL.len());
        for (said, workflow) in steps.iter().zip(Workflow::ALL) {
            let step = step(&format!("mlp:kernel={kernel}"), 32, workflow);
            assert_eq!(said["workflow"], workflow.name());
            for (key, time) in [
                ("host_ns", step.host()),
                ("link_ns", step.link),
                ("device_ns", step.device()),
                ("waited_ns", step.time(Waits::ForEachResult)),
                ("ahead_ns", step.time(Waits::Never)),
            ] {
                assert!((number(said, key) - time.to_ms_f64() * 1e6).abs() < 0.01, "{kernel}: {key} in {said}");
            }
        }
        // The tutorial's loop is the lazy step with a batch to load and without a wait for results.
        let (looped, lazy) = (&report["loop"], step(&format!("mlp:kernel={kernel}"), 32, Workflow::MarkStep));
        let ns = |time: SimTime| time.to_ms_f64() * 1e6;
        let host = number(looped, "load_batch_ns") + ns(lazy.host() + lazy.link);
        assert!((number(looped, "host_ns") - host).abs() < 0.01, "{looped}");
        assert!((number(looped, "device_ns") - ns(lazy.device())).abs() < 0.01, "{looped}");
        assert!((number(&report, "step_ns") - host - number(looped, "wait_ns")).abs() < 0.01, "{report}");
        assert!((number(&report, "step_ns") - host.max(ns(lazy.device()))).abs() < 0.01, "{report}");
    }
    for workflow in Workflow::ALL {
        asked_of_the_commands_that_take_any_model(&f, "mlp:kernel=relu-multicore", 32, workflow);
    }
}

#[test]
fn the_trace_of_a_lazy_step_has_the_parts_of_the_step() {
    let f = Folder::new("trace");
    let step = step("nn", 1, Workflow::MarkStep);
    stdout(
        &f,
        &format!(
            "bench --model nn --workflow mark_step --instance {INSTANCE} --n-models 1 --workers-per-model 1 --jitter 0 \
             --duration 0.1 --trace trace.json"
        ),
    );
    let opened = json(&f, "open trace.json --json");
    let mean_ns = |name: &str| {
        let op = opened["operators"].as_array().unwrap().iter().find(|op| op["name"] == name);
        let op = op.unwrap_or_else(|| panic!("{name} in {opened}"));
        number(op, "total_ns") / number(op, "count")
    };
    let marked = step.host() - step.record;
    for (name, time) in [
        ("e2e", step.time(Waits::ForEachResult)),
        ("record ops", step.record),
        ("StepMarker", marked),
        ("TransferToServer", step.link),
        ("ExecuteComputation", step.device()),
    ] {
        // Both ends of a slice are rounded to a nanosecond.
        assert!((mean_ns(name) - time.to_ms_f64() * 1e6).abs() < 1.0, "{name}: {} {time:?}", mean_ns(name));
    }
}

/// The guide's reason for `trace`: a lazily executed step costs more, and by as much as recording its ops takes.
#[test]
fn the_switch_to_a_lazy_step_shows_its_cost() {
    let f = Folder::new("switch");
    let line = |workflow: Workflow| {
        format!("matmult --matrix_dim 256 --loop_count 10 --sync --jitter 0 --workflow {workflow} --json")
    };
    let [lazy, traced] = Workflow::ALL.map(|w| json(&f, &line(w))["reports"][0].clone());
    let steps = Workflow::ALL.map(|w| step("matmult:n=256,loop_count=10,add_bias=true", 1, w));
    let [more, exact] = [
        number(&lazy, "iteration_s") - number(&traced, "iteration_s"),
        (steps[0].time(Waits::ForEachResult) - steps[1].time(Waits::ForEachResult)).to_secs_f64(),
    ];
    assert!((more / exact - 1.0).abs() < 1e-9 && more > steps[0].record.to_secs_f64(), "{more} {exact}");
    let found = lazy["findings"].as_array().unwrap().iter().find(|f| f["pitfall"] == "lazy_execution").unwrap();
    assert!((number(found, "tops_without") / number(&traced, "tops_computed") - 1.0).abs() < 1e-9, "{found}");
    let sentence = found["sentence"].as_str().unwrap();
    let recorded = format!("{:.3} ms of the host's {:.3} ms", steps[0].record.to_ms_f64(), steps[0].host().to_ms_f64());
    assert!(sentence.contains(&recorded), "{sentence}");
    assert!(lazy["limit"]["sentence"].as_str().unwrap().starts_with("recording the ops of the graph takes"), "{lazy}");
}

/// `UPDATE_DOCS=1 cargo test` writes the table.
#[test]
fn the_steps_of_the_document_are_those_of_the_device() {
    let mut table = "| model | trace | mark_step |\n|---|---|---|\n".to_owned();
    for (model, batch) in [("resnet50", 1), ("mlp:kernel=relu-multicore", 32)] {
        let cells = [Workflow::Trace, Workflow::MarkStep].map(|workflow| {
            let step = step(model, batch, workflow);
            let parts = [step.host(), step.link, step.device(), step.time(Waits::ForEachResult)].map(ms);
            format!("{:.3} + {:.3} + {:.3} = {:.3}", parts[0], parts[1], parts[2], parts[3])
        });
        table.push_str(&format!("| `{model}`, batch {batch} | {} | {} |\n", cells[0], cells[1]));
    }
    crate::doc_tables::assert_written("docs/costs.md", "a step of two models", &table);
}
