//! Rates in wasm, measured in a dedicated worker of the browser: simulator items, benchmark inferences, and trace
//! reading. They print numbers and assert only that the work was done. `./x bench` runs them in release mode.
#![allow(clippy::pedantic, reason = "rates are printed with few digits")]
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a benchmark reads the clock and may fail")]

use std::fmt::Write as _;

use ns_base::NeverCancel;
use ns_bench::{BenchConfig, ConfigurationRun, RunDetail, ServiceTimes, expand};
use ns_compiler::{Workflow, codegen, lower, passes};
use ns_experiment::aggregate::{AcceleratorChoice, Aggregator, Backend, Baseline, Metric, Selection, speedups};
use ns_experiment::plan::{ModelFilter, Test};
use ns_formats::read_bytes;
use ns_machine::cost::CostTable;
use ns_model::ModelSpec;
use ns_neuron::sim::{NoObserver, simulate};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// The best mean time of five series of runs, each of which takes a fifth of a second, in seconds. A browser compiles a program for speed only
/// while it runs, so the first runs say little; and its clock ticks in milliseconds.
fn best_secs(mut run: impl FnMut()) -> f64 {
    (0..5).fold(f64::INFINITY, |best, _| {
        let (start, mut runs, mut secs) = (js_sys::Date::now(), 0.0, 0.0);
        while secs < 0.2 {
            run();
            runs += 1.0;
            secs = (js_sys::Date::now() - start) / 1e3;
        }
        best.min(secs / runs)
    })
}

#[wasm_bindgen_test]
fn simulator() {
    let spec: ModelSpec = "matmult:n=1024,loop_count=1000".parse().unwrap();
    let graph = spec.trace(1).unwrap();
    let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
    let executable = codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap();
    let costs = CostTable::neuroncore_v2();
    let mut items = 0;
    let secs = best_secs(|| items = simulate(&executable, &costs, &mut NoObserver).unwrap().items);
    assert_eq!(items, executable.item_count() as u64);
    console_log!("rate: simulator {:.2} M items/s ({items} items)", items as f64 / secs / 1e6);
}

#[wasm_bindgen_test]
fn bert_base() {
    let spec: ModelSpec = "bert-base-uncased:seq=128".parse().unwrap();
    let mut items = 0;
    let secs = best_secs(|| {
        let graph = spec.trace(8).unwrap();
        let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
        let executable = codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap();
        items = simulate(&executable, &CostTable::neuroncore_v2(), &mut NoObserver).unwrap().items;
    });
    assert!(items > 0);
    console_log!(
        "rate: bert-base-uncased, batch 8, traced, compiled and simulated in {:.1} ms ({items} items)",
        secs * 1e3
    );
}

#[wasm_bindgen_test]
fn scheduler() {
    let config = BenchConfig { instance_type: "inf1.6xlarge".into(), ..BenchConfig::default() };
    let ms = |ms: f64| ns_base::SimTime::from_secs_f64(ms / 1e3);
    let times =
        ServiceTimes { host: ms(0.216), transfer: ms(0.140), device: vec![ms(2.895)], ..ServiceTimes::default() };
    let sweep = expand(&config).unwrap();
    let mut inferences = 0;
    let secs = best_secs(|| {
        inferences = 0;
        for configuration in &sweep.configurations {
            let run = ConfigurationRun::new(configuration.clone(), Ok(&times));
            inferences += run.run(&NeverCancel, RunDetail::default()).report.total_infs.unwrap_or(0);
        }
    });
    assert!(inferences > 0);
    console_log!("rate: 60 s sweep of four configurations in {:.1} ms ({inferences} inferences)", secs * 1e3);
}

#[wasm_bindgen_test]
fn chrome_trace() {
    const EVENTS: usize = 200_000;
    let mut text = String::from("{\"traceEvents\":[");
    for i in 0..EVENTS {
        let (ts, tid, name) = (i * 7 / 8, i % 8, i % 300);
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{ts}.125,\"dur\":5.5,\"name\":\"aten::op_{name}\",\"cat\":\"cpu_op\"}}"
        );
    }
    text.push_str("]}");
    let mut slices = 0;
    let secs = best_secs(|| slices = read_bytes("rates.json", text.as_bytes()).unwrap().slices().len());
    assert_eq!(slices, EVENTS);
    let (mb, events) = (text.len() as f64 / 1e6, EVENTS as f64);
    console_log!("rate: Chrome trace {:.0} MB/s, {:.2} M events/s ({mb:.0} MB)", mb / secs, events / secs / 1e6);
}

#[wasm_bindgen_test]
fn experiment_records() {
    const LINES: usize = 12_000;
    let mut text = String::new();
    for i in 0..LINES {
        let (night, model, dynamo) = (i / 180, i % 90, ["\"inductor\"", "\"openxla\""][i / 90 % 2]);
        let xla = if i / 90 % 2 == 0 { "null" } else { "\"PJRT\"" };
        let times: Vec<String> = (0..10)
            .map(|k| (0.01 + model as f64 * 1e-3 + ((k * 7 + night * 13) % 11) as f64 * 1.234_567e-5).to_string())
            .collect();
        let times = times.join(", ");
        let _ = writeln!(
            text,
            r#"{{"model": {{"suite_name": "torchbench", "model_name": "model_{model}"}}, "experiment": {{"accelerator": "cuda", "accelerator_model": "One of Tesla V100-SXM2-16GB, ...", "xla": {xla}, "xla_flags": null, "dynamo": {dynamo}, "torch_xla2": null, "test": "eval", "batch_size": 16, "enable_functionalization": false}}, "repeat": 10, "iterations_per_run": 1, "metrics": {{"total_time": [{times}], "per_iter_time": [{times}], "trace_total_time": [{times}], "trace_per_iter_time": [{times}]}}, "timestamp": {}.5, "verification_code": "VERIFIER_SKIPPED"}}"#,
            1_700_000_000 + night * 86_400
        );
    }
    let mut nights = 0;
    let secs = best_secs(|| {
        let mut records = Aggregator::new(Selection {
            accelerator: AcceleratorChoice::Known("v100".to_owned()),
            models: ModelFilter::default(),
            test: Test::Eval,
            metric: Metric::Execution,
            lenient: false,
        });
        for line in text.split_inclusive('\n') {
            records.push_line(line.as_bytes(), String::new).unwrap();
        }
        nights = speedups(&records, &[Backend::Inductor, Backend::OpenxlaDynamo], Baseline::Oldest).unwrap().len();
    });
    assert_eq!(nights, LINES.div_ceil(180));
    let mb = text.len() as f64 / 1e6;
    console_log!("rate: records of experiments {:.0} MB/s ({LINES} lines, {mb:.0} MB)", mb / secs);
}
