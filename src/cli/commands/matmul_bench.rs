//! `neuronscope matmul-bench`

use std::io::IsTerminal;

use anyhow::{Result, bail};
use serde::Serialize;

use super::cpu::SystemClock;
use super::text;
use crate::experiment_args::MatmulBenchArgs;
use ns_experiment::micro::{BenchPlan, MatmulDType, MatmulResult, SpeedupClass, matmul_cases};
use ns_experiment::plan::Accelerator;
use ns_experiment::run::matmul_ms;

/// A line of `--json`.
#[derive(Serialize)]
struct MatmulJson {
    name: String,
    base_ms: Option<f64>,
    test_ms: Option<f64>,
    speedup: Option<f64>,
    error: Option<String>,
}

pub(super) fn run(args: MatmulBenchArgs) -> Result<()> {
    let (baseline, device): (Accelerator, Accelerator) = (args.baseline.parse()?, args.device.parse()?);
    let mut dtypes = Vec::new();
    for name in &args.dtypes {
        match MatmulDType::from_name(name.trim()) {
            Some(dtype) => dtypes.push(dtype),
            None => bail!("'{name}' is not a type of these products; choose from float32, float16, bfloat16"),
        }
    }
    if !(args.warmup.is_finite() && args.rep.is_finite() && args.warmup >= 0.0 && args.rep >= 0.0) {
        bail!("--warmup and --rep must be numbers of milliseconds");
    }
    let cases = matmul_cases(&dtypes, args.from, args.to, args.step);
    if cases.is_empty() {
        bail!("there is no product from {} to {}; --to must not be below --from", args.from, args.to);
    }
    let (plan, clock) = (BenchPlan { warmup_ms: args.warmup, measure_ms: args.rep }, SystemClock::new());
    let is_terminal = std::io::stdout().is_terminal();
    let mut done = 0;
    for case in cases {
        let ms = |accelerator| matmul_ms(case, accelerator, plan, &clock);
        let result = ms(baseline).and_then(|base_ms| Ok(MatmulResult { base_ms, test_ms: ms(device)? }));
        done += usize::from(result.is_ok());
        let line = if args.json {
            let ok = result.as_ref().ok();
            serde_json::to_string(&MatmulJson {
                name: case.name(),
                base_ms: ok.map(|r| r.base_ms),
                test_ms: ok.map(|r| r.test_ms),
                speedup: ok.map(|r| r.speedup()),
                error: result.as_ref().err().map(ToString::to_string),
            })?
        } else {
            match result {
                Ok(result) => coloured(&result.line(case), result.verdict(), is_terminal),
                Err(error) => format!("{}: {error}", case.name()),
            }
        };
        text::print(format!("{line}\n").as_bytes())?;
    }
    if done == 0 {
        bail!("no product could be timed");
    }
    Ok(())
}

/// Red where the device is slower, green where it is faster; plain in a file.
fn coloured(line: &str, verdict: SpeedupClass, is_terminal: bool) -> String {
    let colour = match verdict {
        SpeedupClass::Slower if is_terminal => "31",
        SpeedupClass::Faster if is_terminal => "32",
        _ => return line.to_owned(),
    };
    format!("\u{1b}[{colour}m{line}\u{1b}[0m")
}
