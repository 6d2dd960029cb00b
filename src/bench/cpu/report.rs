//! The row of a measured configuration.

use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;
use crate::measured::timer::Timers;
use crate::reports::calendar::utc_dts;
use crate::reports::report::Report;
use crate::run::configuration_run::{RowResult, RunDetail};
use ns_base::Order;
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::{SimTime, stats};
use ns_device::ModelKind;

use super::CpuTimers;

/// The machine on which a row was measured, and when; known only to the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// A short name, in the place of other rows' EC2 size: `Intel(R) Xeon(R) Processor x 2`.
    pub name: String,
    /// A full description of the machine.
    pub description: String,
    /// When the configuration began, seconds since 1970.
    pub began_unix_s: u64,
    /// Time of its end.
    pub ended_unix_s: u64,
}

/// Samples of the machine while it ran, percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSamples {
    /// Processor in use.
    pub cpu: Vec<f64>,
    /// Memory in use.
    pub memory: Vec<f64>,
}

/// Largest difference between the halves of a run that is called steady.
const STEADY: f64 = 0.05;

/// The row of all copies together, with the identity of the machine and the dates. A copy that failed makes the row an error,
/// with the results of the others.
pub fn cpu_row(
    configuration: &Configuration,
    copies: &[CpuTimers],
    samples: &HostSamples,
    machine: &Machine,
    detail: RunDetail,
) -> RowResult {
    let mut result = match measurement(configuration, copies) {
        Ok(measurement) => RowResult::of(configuration, measurement, detail),
        Err(error) => {
            let mut failed = RowResult::failed(configuration, error);
            identify(&mut failed.report, machine);
            return failed;
        }
    };
    let report = &mut result.report;
    identify(report, machine);
    let resolution = copies.iter().map(|c| c.resolution_ns).max().unwrap_or(0);
    report.machine = Some(format!("{}; clock resolution {resolution} ns", machine.description));
    if ModelKind::of(&configuration.model) == ModelKind::File {
        let how = "the model file is computed one operation after another in double precision, which its own framework does faster";
        report.machine = report.machine.as_ref().map(|machine| format!("{machine}; {how}"));
    }
    report.steady_state = steady_state(copies);
    fill_samples(report, samples);
    if let Some(error) = copies.iter().find_map(|c| c.error.as_ref()) {
        (report.status, report.error) = ("error".to_owned(), Some(error.clone()));
    }
    result
}

/// Writes into a row where and when it was measured, instead of an EC2 size and simulated dates.
fn identify(report: &mut Report, machine: &Machine) {
    report.instance_type.clone_from(&machine.name);
    report.machine = Some(machine.description.clone());
    (report.start_dts, report.stop_dts) = (utc_dts(machine.began_unix_s), utc_dts(machine.ended_unix_s));
}

/// Reports are computed from durations in picoseconds, the simulator's unit. This is the one place where measured
/// nanoseconds become simulator durations; the resulting reports state that they were measured.
const fn duration(ns: u64) -> SimTime {
    SimTime::from_ns(ns)
}

fn measurement(configuration: &Configuration, copies: &[CpuTimers]) -> Result<Measurement, Refusal> {
    let workers = configuration.workers_per_model.max(1) as usize;
    let mut timers: Timers = Timers::new(copies.len(), copies.len() * workers);
    let mut ends: Vec<(u64, u64, usize)> = Vec::new();
    let mut bring_up = SimTime::ZERO;
    for (i, copy) in copies.iter().enumerate() {
        timers.load[i].add(duration(copy.load_ns));
        let mut ready = duration(copy.load_ns);
        for ns in &copy.warmup_ns {
            timers.warmup[i].add(duration(*ns));
            ready += duration(*ns);
        }
        bring_up = bring_up.max(ready);
        for (at, (end, latency)) in copy.inferences.iter().enumerate() {
            let worker = i * workers + at % workers;
            timers.e2e[worker].add(duration(*latency));
            let around = |list: &[u64]| list.get(at).copied();
            let (before, after) = (around(&copy.preprocess_ns), around(&copy.postprocess_ns));
            before.into_iter().for_each(|ns| timers.preprocess[worker].add(duration(ns)));
            after.into_iter().for_each(|ns| timers.postprocess[worker].add(duration(ns)));
            let call = latency.saturating_sub(before.unwrap_or(0)).saturating_sub(after.unwrap_or(0));
            timers.infer[worker].add(duration(call));
            ends.push((*end, *latency, worker));
        }
        timers.worker[i * workers..(i + 1) * workers].iter_mut().for_each(|t| t.add(duration(copy.elapsed_ns)));
    }
    ends.order();
    let mut measurement = Measurement::new(configuration.duration(), timers, ends.len() as u64)?;
    for (end, latency, worker) in ends {
        measurement.note_end(worker, duration(end));
        measurement.record(duration(end), duration(latency))?;
    }
    measurement.bring_up = bring_up;
    measurement.warmups = copies.iter().map(|c| c.warmup_ns.len() as u64).sum();
    let elapsed = measurement.elapsed;
    measurement.close(elapsed, copies.iter().all(|c| c.error.is_none()));
    if configuration.options.dataset.is_some_and(|d| !d.looped) {
        measurement.window_is_elapsed();
    }
    Ok(measurement)
}

/// Whether the medians of the two halves of each copy differ by at most 5 %; `None` with fewer than 20 inferences.
fn steady_state(copies: &[CpuTimers]) -> Option<bool> {
    let median = |part: &[(u64, u64)]| {
        let mut values: Vec<f64> = part.iter().map(|(_, latency)| u64_to_f64(*latency)).collect();
        values.order_by(f64::total_cmp);
        stats::percentile_sorted(&values, 50.0)
    };
    let mut steady = true;
    for copy in copies {
        if copy.inferences.len() < 20 {
            return None;
        }
        let (first, second) = copy.inferences.split_at(copy.inferences.len() / 2);
        let ratio = median(second)? / median(first)?;
        steady &= (ratio - 1.0).abs() <= STEADY;
    }
    Some(steady)
}

/// NeuronPerf's rule: the first and the last sample are dropped, and more than two must be left. The average is taken over
/// the samples; NeuronPerf's is the mean of six percentiles.
pub(crate) fn fill_samples(report: &mut Report, samples: &HostSamples) {
    let inner = |all: &[f64]| {
        let mut inner = all.get(1..all.len().saturating_sub(1)).unwrap_or(&[]).to_vec();
        inner.order_by(f64::total_cmp);
        inner
    };
    let (cpu, memory) = (inner(&samples.cpu), inner(&samples.memory));
    report.n_stats_intervals = cpu.len() as u64;
    if cpu.len() <= 2 || memory.len() <= 2 {
        return;
    }
    let at = |values: &[f64], p| stats::percentile_sorted(values, p);
    (report.cpu_avg_percent, report.mem_avg_percent) = (stats::mean(&cpu), stats::mean(&memory));
    (report.cpu_percent_p0, report.mem_percent_p0) = (at(&cpu, 0.0), at(&memory, 0.0));
    (report.cpu_percent_p50, report.mem_percent_p50) = (at(&cpu, 50.0), at(&memory, 50.0));
    (report.cpu_percent_p90, report.mem_percent_p90) = (at(&cpu, 90.0), at(&memory, 90.0));
    (report.cpu_percent_p95, report.mem_percent_p95) = (at(&cpu, 95.0), at(&memory, 95.0));
    (report.cpu_percent_p99, report.mem_percent_p99) = (at(&cpu, 99.0), at(&memory, 99.0));
    (report.cpu_percent_p100, report.mem_percent_p100) = (at(&cpu, 100.0), at(&memory, 100.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, DeviceType, RunOptions, expand};

    fn copies(slower: u64) -> Vec<CpuTimers> {
        let one = |ns: u64| CpuTimers {
            load_ns: 5_000_000,
            warmup_ns: vec![9_000_000],
            inferences: (1..=40).map(|i| (i * ns, if i > 20 { ns + slower } else { ns })).collect(),
            elapsed_ns: 40 * ns,
            resolution_ns: 100,
            ..CpuTimers::default()
        };
        vec![one(100_000_000), one(50_000_000)]
    }

    fn row(copies: &[CpuTimers], samples: &HostSamples) -> Report {
        let config = BenchConfig {
            duration_s: 4.0,
            n_models: Some(vec![2]),
            workers_per_model: Some(vec![1]),
            options: RunOptions { device_type: DeviceType::Cpu, ..RunOptions::default() },
            ..BenchConfig::default()
        };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let machine = Machine {
            name: "a processor x 4".into(),
            description: "a machine".into(),
            began_unix_s: 951_782_400,
            ended_unix_s: 951_782_405,
        };
        cpu_row(&configuration, copies, samples, &machine, RunDetail::default()).report
    }

    #[test]
    fn a_measured_row_says_so_and_has_the_sum_of_its_copies() {
        let r = row(&copies(0), &HostSamples::default());
        assert_eq!((r.source.as_str(), r.device_type.as_str(), r.status.as_str()), ("measured", "cpu", "finished"));
        assert_eq!(r.machine.as_deref(), Some("a machine; clock resolution 100 ns"));
        assert_eq!((r.instance_type.as_str(), r.cost_per_1m_inf), ("a processor x 4", None));
        assert_eq!((r.start_dts.as_str(), r.stop_dts.as_str()), ("20000229-000000", "20000229-000005"));
        // Two seconds with both copies, then one of them: 10 + 20 of each second, then 10.
        assert_eq!((r.throughput_peak, r.total_infs, r.steady_state), (Some(30.0), Some(82), Some(true)));
        assert_eq!((r.latency_ms_p0, r.latency_ms_p100), (Some(50.0), Some(100.0)));
        assert_eq!((r.load_avg_ms, r.warmup_avg_ms, r.cpu_avg_percent), (Some(5.0), Some(9.0), None));
        assert_eq!(row(&copies(20_000_000), &HostSamples::default()).steady_state, Some(false));
    }

    #[test]
    fn samples_lose_their_ends_and_a_failed_copy_fails_the_row() {
        let samples = HostSamples { cpu: vec![0.0, 50.0, 60.0, 70.0, 0.0], memory: vec![9.0, 10.0, 10.0, 10.0, 99.0] };
        let r = row(&copies(0), &samples);
        assert_eq!((r.cpu_avg_percent, r.cpu_percent_p50, r.mem_percent_p100), (Some(60.0), Some(60.0), Some(10.0)));
        assert_eq!(r.n_stats_intervals, 3);
        let mut broken = copies(0);
        broken[1] = CpuTimers { error: Some("no memory".into()), ..CpuTimers::default() };
        let r = row(&broken, &samples);
        assert_eq!((r.status.as_str(), r.error.as_deref()), ("error", Some("no memory")));
        assert!(r.throughput_avg.is_some());
    }
}
