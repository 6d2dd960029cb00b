//! Prints how many simulated inferences the scheduler runs in a second of wall time, and how long a report takes.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::Instant;

use neuronscope::base::SimTime;
use neuronscope::bench::{BenchConfig, ConfigurationRun, RunDetail, ServiceTimes, expand};

fn main() {
    let device = |ms: f64| vec![SimTime::from_ns_f64(ms * 1e6)];
    let queued = ServiceTimes {
        host: SimTime::from_us(216),
        transfer: SimTime::from_us(140),
        device: device(2.895),
        ..ServiceTimes::default()
    };
    let fast = ServiceTimes { device: device(0.006), ..queued.clone() };
    let fast = ServiceTimes { host: SimTime::from_ns(300), transfer: SimTime::from_ns(300), ..fast };
    memory(&fast);
    report("published rows: 60 s, inf1.6xlarge", &queued, 60.0);
    report("10^7 inferences: 6 s at 0.6 us a call", &fast, 6.0);
}

/// A line of `/proc/self/status`, KiB; zero where there is none.
fn resident_kib(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(key));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0.0)
}

/// Runs to the end and counts the inferences.
fn inferences_of(run: &mut ConfigurationRun) -> u64 {
    loop {
        let progress = run.step(50_000);
        if progress.done {
            return progress.inferences;
        }
    }
}

/// One model copy and one worker for ever longer: what the process takes more is the latencies, 8 bytes each.
fn memory(times: &ServiceTimes) {
    println!("memory of one run");
    let before = resident_kib("VmRSS:");
    let config = BenchConfig { duration_s: 20.0, ..BenchConfig::default() };
    let Ok(mut sweep) = expand(&config) else { return };
    let mut run = ConfigurationRun::new(sweep.configurations.remove(0), Ok(times));
    let inferences = inferences_of(&mut run) as f64;
    let bytes = (resident_kib("VmRSS:") - before) * 1_024.0;
    println!("  {inferences:.0} inferences, {:.2} bytes an inference", bytes / inferences);
}

fn report(title: &str, times: &ServiceTimes, duration_s: f64) {
    println!("{title}");
    let config = BenchConfig { instance_type: "inf1.6xlarge".to_owned(), duration_s, ..BenchConfig::default() };
    let Ok(sweep) = expand(&config) else { return };
    let start = Instant::now();
    for configuration in sweep.configurations {
        let run_start = Instant::now();
        let mut run = ConfigurationRun::new(configuration, Ok(times));
        let inferences = inferences_of(&mut run);
        let run_s = run_start.elapsed().as_secs_f64();
        let (outcome, _) = run.finish(RunDetail::default());
        let all_s = run_start.elapsed().as_secs_f64();
        println!(
            "  {:<22} {inferences:>10} inferences, {:>6.1} M/s scheduled, {:>6.1} ms with the report",
            outcome.report.label(),
            inferences as f64 / run_s / 1e6,
            all_s * 1e3
        );
    }
    println!("  most memory so far: {:.0} MiB", resident_kib("VmHWM:") / 1_024.0);
    println!("  sweep of four: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}
