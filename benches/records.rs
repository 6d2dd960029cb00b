//! How fast records of experiments are aggregated: a file in memory, line by line, as the command line reads it.

// A benchmark prints and reads the clock.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used)]

use std::time::Instant;

use neuronscope::experiment::aggregate::{
    AcceleratorChoice, Aggregator, Backend, Baseline, Metric, Selection, speedups,
};
use neuronscope::experiment::plan::{ModelFilter, Test};

/// Megabytes of text, unless the first argument says.
const DEFAULT_MB: usize = 64;

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(DEFAULT_MB);
    let (text, lines) = records(megabytes * 1_000_000);
    let selection = Selection {
        accelerator: AcceleratorChoice::Known("v100".to_owned()),
        models: ModelFilter::default(),
        test: Test::Eval,
        metric: Metric::Execution,
        lenient: false,
    };
    let start = Instant::now();
    let mut records = Aggregator::new(selection);
    for line in text.split_inclusive('\n') {
        records.push_line(line.as_bytes(), String::new).unwrap();
    }
    let read_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let times = speedups(&records, &[Backend::Inductor, Backend::OpenxlaDynamo], Baseline::Oldest).unwrap();
    let report_s = start.elapsed().as_secs_f64();
    let megabytes = text.len() as f64 / 1e6;
    println!("records: {lines} lines, {megabytes:.0} MB, read at {:.0} MB/s", megabytes / read_s);
    println!("records: {} timestamps reported in {:.1} ms", times.len(), report_s * 1e3);
}

/// Records as the suite writes them: a day is 90 models with three backends, ten repeats and XLA's counters.
fn records(bytes: usize) -> (String, usize) {
    let (mut text, mut lines) = (String::with_capacity(bytes + 4_096), 0);
    for day in 0_u32.. {
        for model in 0_u32..90 {
            for (xla, dynamo) in [("null", "\"inductor\""), ("\"PJRT\"", "\"openxla\""), ("\"PJRT\"", "null")] {
                if text.len() >= bytes {
                    return (text, lines);
                }
                let times: Vec<String> = (0..10_u32)
                    .map(|i| {
                        (0.01 + f64::from(model) * 1e-3 + f64::from((i * 7 + day * 13) % 11) * 1.234_567e-5).to_string()
                    })
                    .collect();
                let times = times.join(", ");
                text.push_str(&format!(
                    r#"{{"model": {{"suite_name": "torchbench", "model_name": "model_{model}"}}, "experiment": {{"accelerator": "cuda", "accelerator_model": "One of Tesla V100-SXM2-16GB, ...", "xla": {xla}, "xla_flags": null, "dynamo": {dynamo}, "torch_xla2": null, "test": "eval", "batch_size": 16, "enable_functionalization": false}}, "repeat": 10, "iterations_per_run": 1, "metrics": {{"total_time": [{times}], "per_iter_time": [{times}], "trace_total_time": [{times}], "trace_per_iter_time": [{times}], "xla_CompileTime_time_s": [0.42, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "xla_CompileTime_number": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]}}, "timestamp": {}.5, "verification_code": "VERIFIER_SKIPPED"}}"#,
                    1_700_000_000 + day * 86_400
                ));
                text.push('\n');
                lines += 1;
            }
        }
    }
    (text, lines)
}
