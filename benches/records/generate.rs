//! A file of records as nights of PyTorch/XLA's suite leave it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// Products that the suite knows.
const PRODUCTS: [&str; 2] = ["One of Tesla V100-SXM2-16GB, Tesla V100-SXM2-16GB, ...", "NVIDIA A100-SXM4-40GB"];
/// Runtime and compiler of the four backends.
const BACKENDS: [(&str, &str); 4] =
    [("null", "\"inductor\""), ("\"PJRT\"", "\"openxla\""), ("\"PJRT\"", "null"), ("null", "null")];
/// Models of a night.
const MODELS: u32 = 90;
/// Nights before the same times come again: series have an end, lines have none.
const NIGHTS: u32 = 400;

/// Writes records until the file has so many bytes; how many there are.
pub fn write(path: &Path, bytes: u64) -> std::io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut random = Pcg32::seed_from_u64(1);
    let (mut written, mut lines, mut line) = (0, 0, String::new());
    for night in (0..NIGHTS).cycle() {
        for model in 0..MODELS {
            for product in PRODUCTS {
                for backend in BACKENDS {
                    for test in ["eval", "train"] {
                        line.clear();
                        record(&mut line, &mut random, night, model, product, backend, test);
                        out.write_all(line.as_bytes())?;
                        written += line.len() as u64;
                        lines += 1;
                        if written >= bytes {
                            out.flush()?;
                            return Ok(lines);
                        }
                    }
                }
            }
        }
    }
    Ok(lines)
}

fn record(
    out: &mut String,
    random: &mut Pcg32,
    night: u32,
    model: u32,
    product: &str,
    (xla, dynamo): (&str, &str),
    test: &str,
) {
    use std::fmt::Write as _;
    let batch = [1, 4, 8, 16, 64][(model % 5) as usize];
    let _ = write!(
        out,
        r#"{{"model": {{"suite_name": "torchbench", "model_name": "model_{model}"}}, "experiment": {{"accelerator": "cuda", "accelerator_model": "{product}", "xla": {xla}, "xla_flags": null, "dynamo": {dynamo}, "torch_xla2": null, "test": "{test}", "batch_size": {batch}, "enable_functionalization": false}}, "repeat": 10, "iterations_per_run": 1, "metrics": {{"#
    );
    // One run in fifty fails.
    if random.next_u32().is_multiple_of(50) {
        let _ = write!(
            out,
            r#""error": "Traceback (most recent call last):\n  File \"experiment_runner.py\", line {}\nRuntimeError: out of memory""#,
            random.next_u32() % 1_000
        );
    } else {
        let mean = 0.005 * f64::from(1 + model % 40);
        let times = |random: &mut Pcg32| {
            let time = |_| (mean * (1.0 + f64::from(random.next_u32() % 100_000) * 1.234_567e-6)).to_string();
            (0..10).map(time).collect::<Vec<_>>().join(", ")
        };
        let total = times(random);
        let _ = write!(out, r#""total_time": [{total}], "per_iter_time": [{total}]"#);
        if xla != "null" {
            let trace = times(random);
            let _ = write!(
                out,
                r#", "trace_total_time": [{trace}], "trace_per_iter_time": [{trace}], "xla_CompileTime_time_s": [0.420224129, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "xla_CompileTime_number": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]"#
            );
        }
        // Some runs collect counters.
        if random.next_u32().is_multiple_of(10) {
            out.push_str(r#", "dynamo_counters": [{"frames": {"total": 1, "ok": 1}, "stats": {"calls_captured": 120, "unique_graphs": 1}}, {}, {}]"#);
        }
    }
    let _ = writeln!(
        out,
        r#"}}, "timestamp": {}.5, "verification_code": "VERIFIER_SKIPPED"}}"#,
        1_700_000_000 + night * 86_400
    );
}
