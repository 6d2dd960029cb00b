//! `neuronscope bench --scenario`

use anyhow::{Result, bail};

use crate::driver::Driver;
use ns_bench::mlperf::{MlperfSettings, mlperf_to_json, mlperf_to_text};
use ns_bench::{BenchConfig, expand};
use ns_session::{JobRequest, JobResult, Message};

/// Runs the scenario on each configuration of the benchmark; configurations that cannot run are named and left out.
pub(super) fn run(mut driver: Driver<'_>, config: BenchConfig, settings: MlperfSettings, json: bool) -> Result<()> {
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    for configuration in expand(&config)?.configurations {
        let label = configuration.label();
        let (settings, configuration) = (Box::new(settings.clone()), Box::new(configuration));
        match driver.run(JobRequest::Mlperf { settings, configuration }, None) {
            Ok(Some(Message::Done(JobResult::Mlperf(result)))) => results.push(*result),
            // Ctrl-C ended the run before any result.
            Ok(_) => {}
            Err(error) => failed.push(format!("failed: {label}: {error}")),
        }
    }
    failed.iter().for_each(|line| driver.say(line));
    if json {
        driver.shell.print(mlperf_to_json(&results).map_err(anyhow::Error::msg)?.as_bytes())?;
    } else {
        let texts: Vec<String> = results.iter().map(mlperf_to_text).collect();
        driver.shell.print(texts.join("\n").as_bytes())?;
    }
    match failed.first() {
        Some(first) if results.is_empty() => bail!("no configuration could run: {first}"),
        _ => Ok(()),
    }
}
