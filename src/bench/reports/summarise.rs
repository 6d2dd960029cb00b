//! From a measurement to its report: NeuronPerf's formulas, without their faults.

use ns_base::convert::{u64_to_f64, usize_to_f64};
use ns_base::units::{format_count, format_number};
use ns_base::{SimTime, stats::round_to};

use super::calendar::simulated_dts;
use super::confidence::{mean_ci95, percentile_ci95_percents};
use super::report::{Report, ReportDetail};
use crate::config::configuration::{Configuration, WorkerChoice};
use crate::config::options::{DeviceType, Processes};
use crate::measured::measurement::Measurement;
use crate::measured::timer::mean_of_averages_ms;

/// The program's name in reports.
pub const REPORT_VERSION: &str = concat!("neuronscope-", env!("CARGO_PKG_VERSION"));

impl Report {
    /// The report of a configuration that could not run.
    pub fn failed(configuration: &Configuration, error: impl ToString) -> Self {
        Self { status: "error".to_owned(), error: Some(error.to_string()), ..Self::described(configuration) }
    }

    /// A report with the configuration part only; every measure is absent.
    pub(crate) fn described(configuration: &Configuration) -> Self {
        let is_measured = configuration.options.device_type == DeviceType::Cpu;
        // Only the shell knows when a measurement began and ended.
        let dts = if is_measured { String::new() } else { simulated_dts(SimTime::ZERO) };
        Self {
            model_filename: configuration.model_filename(),
            model_name: configuration.model_name.clone(),
            device_type: configuration.options.device_type.name().to_owned(),
            instance_type: configuration.instance_type.clone(),
            batch_size: configuration.batch_size,
            n_models: configuration.n_models,
            workers_per_model: configuration.workers_per_model,
            pipeline_size: configuration.pipeline_size,
            n_devices: configuration.n_devices(),
            performance_level: Some(configuration.performance_level),
            multiprocess: configuration.options.is_multiprocess(),
            multiinterpreter: configuration.options.processes == Processes::Fresh,
            stats_interval: configuration.options.stats_interval_s.to_string(),
            start_dts: dts.clone(),
            duration: configuration.duration_s.to_string(),
            stop_dts: dts,
            neuronperf_version: REPORT_VERSION.to_owned(),
            source: if is_measured { "measured" } else { "simulated" }.to_owned(),
            workflow: configuration.workflow().map(|w| w.name().to_owned()),
            workers_tried: match &configuration.worker_choice {
                WorkerChoice::Tried(text) => Some(text.clone()),
                WorkerChoice::Given | WorkerChoice::ByTrial => None,
            },
            compiler_args: configuration.is_compiled().then(|| configuration.compile_options().to_string()),
            ..Report::default()
        }
    }

    /// The report of a run. A run that was stopped is an error with the measures it has. Latencies are reordered.
    pub fn of(configuration: &Configuration, measurement: &mut Measurement, detail: ReportDetail) -> Self {
        let mut report = Self::described(configuration);
        if measurement.finished {
            report.status = "finished".to_owned();
        } else {
            report.status = "error".to_owned();
            let (passed, asked) = (round_to(measurement.window.to_secs_f64(), 3), configuration.duration_s);
            report.error = Some(format!("stopped after {passed} s of {asked} s; the measures are those of that part"));
        }
        let total = measurement.bring_up + measurement.elapsed;
        report.stop_dts = simulated_dts(total);
        report.total_s = Some(total.to_secs_f64());
        let batch = u64::from(configuration.batch_size);
        report.total_infs = Some((measurement.inferences() + measurement.warmups) * batch);
        fill_timers(&mut report, measurement);
        fill_call(&mut report, measurement);
        report.shortened = shortened(configuration, measurement);
        fill_throughput(&mut report, configuration, measurement, detail);
        if detail >= ReportDetail::Latencies {
            let ms = |ps: &u64| SimTime(*ps).to_ms_f64();
            report.e2e_durations_ms = Some(measurement.latencies_ps().iter().map(ms).collect());
        }
        fill_latencies(&mut report, measurement);
        fill_shared(&mut report, measurement);
        report
    }
}

/// What a run says that ended before its duration.
fn shortened(configuration: &Configuration, measurement: &Measurement) -> Option<String> {
    let window = measurement.window;
    let is_asked = configuration.options.max_inferences.is_some() && configuration.may_be_shortened();
    (is_asked && measurement.finished && window < configuration.duration()).then(|| {
        format!(
            "{} s of {} s have {} inferences, which are enough",
            format_number(window.to_secs_f64()),
            configuration.duration_s,
            format_count(measurement.inferences())
        )
    })
}

/// How busy the parts are that the copies of a simulated run share.
fn fill_shared(report: &mut Report, measurement: &Measurement) {
    let elapsed = measurement.elapsed;
    if elapsed == SimTime::ZERO {
        return;
    }
    // Work that a stopped run has begun may end after its last inference.
    let share = |busy: SimTime| (busy.to_secs_f64() / elapsed.to_secs_f64() * 100.0).min(100.0);
    report.host_busy_percent = measurement.host_busy.map(share);
    report.path_busy_percent = measurement.path_busy.map(share);
}

fn fill_timers(report: &mut Report, measurement: &Measurement) {
    let ms = mean_of_averages_ms;
    let timers = &measurement.timers;
    report.load_avg_ms = ms(&timers.load);
    report.input_avg_ms = ms(&timers.input);
    report.warmup_avg_ms = ms(&timers.warmup);
    report.env_setup_avg_ms = ms(&timers.env_setup);
    report.setup_avg_ms = ms(&timers.setup);
    report.preprocess_avg_ms = ms(&timers.preprocess);
    report.infer_avg_ms = ms(&timers.infer);
    report.postprocess_avg_ms = ms(&timers.postprocess);
    report.e2e_avg_ms = ms(&timers.e2e);
    report.worker_avg_s = ms(&timers.worker).map(|ms| ms / 1e3);
    let parts = [report.input_avg_ms, report.preprocess_avg_ms, report.infer_avg_ms, report.postprocess_avg_ms];
    let worked: f64 = parts.iter().flatten().sum();
    report.wait_avg_ms = report.e2e_avg_ms.map(|whole| (whole - worked).max(0.0));
}

/// The parts of a call, and what is left of the mean call for waiting. Jitter may make the mean a little shorter.
fn fill_call(report: &mut Report, measurement: &Measurement) {
    let Some(parts) = measurement.parts else { return };
    let [host, link, device] = [parts.host, parts.link, parts.device].map(SimTime::to_ms_f64);
    report.call_host_ms = Some(host);
    report.call_link_ms = Some(link);
    report.call_device_ms = Some(device);
    report.call_wait_ms = report.infer_avg_ms.map(|infer| (infer - host - link - device).max(0.0));
}

/// Percentiles, their confidence intervals, and the number of outliers, in one pass over the latencies.
fn fill_latencies(report: &mut Report, measurement: &mut Measurement) {
    let n = measurement.latencies_ps().len();
    report.latency_samples = Some(n as u64);
    let (median, tail) = (percentile_ci95_percents(n, 50.0), percentile_ci95_percents(n, 99.0));
    let (median_low, median_high) = median.unwrap_or((50.0, 50.0));
    let (tail_low, tail_high) = tail.unwrap_or((99.0, 99.0));
    let percents = [0.0, 50.0, 90.0, 95.0, 99.0, 100.0, median_low, median_high, tail_low, tail_high, 25.0, 75.0];
    let Some(values) = measurement.latency_percentiles_ms(percents) else { return };
    let [p0, p50, p90, p95, p99, p100, m_low, m_high, t_low, t_high, lower, upper] = values;
    (report.latency_ms_p0, report.latency_ms_p50, report.latency_ms_p90) = (Some(p0), Some(p50), Some(p90));
    (report.latency_ms_p95, report.latency_ms_p99, report.latency_ms_p100) = (Some(p95), Some(p99), Some(p100));
    if median.is_some() {
        (report.latency_ms_p50_ci95_low, report.latency_ms_p50_ci95_high) = (Some(m_low), Some(m_high));
    }
    if tail.is_some() {
        (report.latency_ms_p99_ci95_low, report.latency_ms_p99_ci95_high) = (Some(t_low), Some(t_high));
    }
    let fence = SimTime::from_ns_f64((upper + 3.0 * (upper - lower)) * 1e6);
    let beyond = measurement.latencies_ps().iter().filter(|ps| **ps > fence.0).count();
    report.latency_outliers = Some(beyond as u64);
}

fn fill_throughput(report: &mut Report, configuration: &Configuration, m: &Measurement, detail: ReportDetail) {
    let batch = u64::from(configuration.batch_size);
    let samples: Vec<u64> = m.seconds().iter().map(|s| s.count * batch).collect();
    // A run of less than a second has no second to count.
    let has_second = m.elapsed >= SimTime::from_secs(1);
    let best = samples.iter().max().filter(|_| has_second).map(|best| u64_to_f64(*best));
    let passes = configuration.options.dataset.is_some_and(|d| !d.looped);
    let workers = m.workers_rate().filter(|_| !passes).map(|rate| rate * u64_to_f64(batch));
    let is_short = report.shortened.is_some() || samples.len() < FEWEST_SECONDS + 2;
    let average = average_throughput(&samples, workers.filter(|_| is_short), m.elapsed);
    report.throughput_peak = best.map(|best| average.map_or(best, |(rate, _)| rate.max(best)));
    if let Some((rate, method)) = average {
        report.throughput_avg = Some(rate);
        report.throughput_avg_method = Some(method.to_owned());
        report.cost_per_1m_inf = configuration.cost_per_hour.and_then(|price| cost_per_million(price, rate));
    }
    if let [_, interior @ .., _] = samples.as_slice()
        && interior.len() >= FEWEST_SECONDS
        && average.is_some_and(|(_, method)| method == INTERIOR_SECONDS)
    {
        let interior: Vec<f64> = interior.iter().map(|n| u64_to_f64(*n)).collect();
        (report.throughput_ci95_low, report.throughput_ci95_high) = mean_ci95(&interior).unzip();
    }
    if m.window > SimTime::ZERO {
        report.throughput_window = Some(u64_to_f64(m.in_window * batch) / m.window.to_secs_f64());
    }
    if detail >= ReportDetail::Seconds {
        report.throughput_hist = Some(samples);
    }
}

/// US dollars for a million samples, at a price per hour and a number of samples per second.
pub(crate) fn cost_per_million(usd_per_hour: f64, rate: f64) -> Option<f64> {
    Some(usd_per_hour * (1e6 / (3_600.0 * rate))).filter(|usd| usd.is_finite())
}

/// Fewest seconds between the first and the last whose mean is a throughput. A second holds whole calls, so one or two say how a call falls
/// into them: 408 or 416 samples of calls of eight, where a minute says 412.5.
pub(crate) const FEWEST_SECONDS: usize = 3;

const INTERIOR_SECONDS: &str = "interior_seconds";

/// The rate of the workers, if that is to count, for a short run. Otherwise the mean of all seconds but the first and the last; without such, the
/// total over the elapsed time.
fn average_throughput(samples: &[u64], workers: Option<f64>, elapsed: SimTime) -> Option<(f64, &'static str)> {
    if let Some(rate) = workers {
        return Some((rate, "worker_rates"));
    }
    if let [_, interior @ .., _] = samples
        && !interior.is_empty()
    {
        let mean = u64_to_f64(interior.iter().sum::<u64>()) / usize_to_f64(interior.len());
        return Some((mean, INTERIOR_SECONDS));
    }
    let total: u64 = samples.iter().sum();
    (total > 0 && elapsed > SimTime::ZERO).then(|| (u64_to_f64(total) / elapsed.to_secs_f64(), "total_over_elapsed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, MockExecutor, REPORT_KEYS, Scheduler, ServiceTimes, SimulatedExecutor, expand};

    fn measured(config: &BenchConfig, device: SimTime) -> (Configuration, Measurement) {
        let configuration = expand(config).unwrap().configurations.remove(0);
        let times = ServiceTimes {
            load: SimTime::from_us(62_000),
            warmup: SimTime::from_us(2_625),
            device: vec![device],
            ..ServiceTimes::default()
        };
        let mut scheduler = Scheduler::new(&configuration, MockExecutor::new(vec![vec![times]]), 0).unwrap();
        scheduler.run_to_end().unwrap();
        (configuration, scheduler.into_measurement())
    }

    #[test]
    fn formulas_on_a_run_worked_out_by_hand() {
        let config = BenchConfig {
            duration_s: 5.0,
            batch_sizes: vec![3],
            cost_per_hour: Some(1.18),
            n_models: Some(vec![1]),
            ..BenchConfig::default()
        };
        // 0.3 s each: ends at 0.3 .. 4.8, and 5.1 in flight at the end. Per second 3, 3, 3, 4, 3, 1.
        let (configuration, mut m) = measured(&config, SimTime::from_us(300_000));
        let r = Report::of(&configuration, &mut m, ReportDetail::Latencies);
        assert_eq!(r.throughput_hist, Some(vec![9, 9, 9, 12, 9, 3]));
        assert_eq!((r.throughput_peak, r.throughput_avg), (Some(12.0), Some(9.75)));
        assert_eq!(r.throughput_window, Some(9.6));
        assert_eq!(r.total_infs, Some((17 + 1) * 3));
        assert_eq!(r.cost_per_1m_inf, Some(1.18 * (1e6 / (3_600.0 * 9.75))));
        let r = r.in_file_decimals();
        assert_eq!((r.total_s, r.worker_avg_s), (Some(5.16), Some(5.1)));
        assert_eq!((r.load_avg_ms, r.warmup_avg_ms, r.infer_avg_ms), (Some(62.0), Some(2.625), Some(300.0)));
        assert_eq!((r.setup_avg_ms, r.latency_ms_p0, r.latency_ms_p100), (Some(0.0), Some(300.0), Some(300.0)));
        assert_eq!(r.cost_per_1m_inf, Some(round_to(1.18e6 / 3_600.0 / 9.75, 3)));
        assert_eq!(r.e2e_durations_ms.map(|d| d.len()), Some(17));
        assert_eq!((r.start_dts.as_str(), r.stop_dts.as_str()), ("20240101-000000", "20240101-000005"));
        assert_eq!((r.duration.as_str(), r.status.as_str(), r.error), ("5", "finished", None));
    }

    #[test]
    fn short_and_sparse_runs_have_no_nan() {
        let unpriced = BenchConfig { instance_type: "trn2.48xlarge".into(), ..BenchConfig::default() };
        let config = BenchConfig { duration_s: 1.0, ..unpriced };
        let (configuration, mut m) = measured(&config, SimTime::from_us(400_000));
        let r = Report::of(&configuration, &mut m, ReportDetail::Summary);
        assert_eq!((r.throughput_avg, r.throughput_avg_method.as_deref()), (Some(2.5), Some("worker_rates")));
        assert_eq!((r.throughput_window, r.cost_per_1m_inf, r.throughput_hist), (Some(2.0), None, None));
        assert_eq!(r.throughput_peak, Some(2.5), "a second of 2 is not the best of 2.5 a second");
        // Latency above a second: NeuronPerf's rule counts only seconds with an end, the window counts them all.
        let config = BenchConfig { duration_s: 20.0, ..BenchConfig::default() };
        let (configuration, mut m) = measured(&config, SimTime::from_us(2_500_000));
        let r = Report::of(&configuration, &mut m, ReportDetail::Seconds);
        assert_eq!((r.throughput_avg, r.throughput_window), (Some(1.0), Some(0.4)));
        assert_eq!(r.throughput_hist, Some(vec![1; 8]));
    }

    /// The length of a run may not change what its model is said to do.
    #[test]
    fn short_runs_have_the_rate_of_long_ones() {
        let times = ServiceTimes {
            call: SimTime::from_us(90),
            link: SimTime::from_us(700),
            device: vec![SimTime::from_us(9_700)],
            ..ServiceTimes::default()
        };
        for (instance, batch, n_models, workers) in [
            ("inf2.xlarge", 8, 2, 2),
            ("inf2.24xlarge", 32, 12, 1),
            ("inf2.48xlarge", 64, 24, 2),
            ("inf2.xlarge", 4, 1, 1),
        ] {
            let rate = |duration_s: f64| {
                let config = BenchConfig {
                    instance_type: instance.to_owned(),
                    batch_sizes: vec![batch],
                    n_models: Some(vec![n_models]),
                    workers_per_model: Some(vec![workers]),
                    duration_s,
                    ..BenchConfig::default()
                };
                let c = expand(&config).unwrap().configurations.remove(0);
                let executor = SimulatedExecutor::new(&c, &times);
                let mut scheduler = Scheduler::new(&c, executor, 0).unwrap();
                scheduler.run_to_end().unwrap();
                Report::of(&c, &mut scheduler.into_measurement(), ReportDetail::Summary).throughput_avg.unwrap()
            };
            let long = rate(60.0);
            for (short, error) in [(0.3, 3e-3), (1.0, 2e-3), (2.0, 1e-3), (2.7, 1e-3)] {
                let found = rate(short);
                assert!(
                    (found / long - 1.0).abs() < error,
                    "{instance} b{batch}: {found} in {short} s, {long} in 60 s"
                );
            }
        }
    }

    #[test]
    fn a_stopped_run_is_an_error_with_its_measures() {
        let configuration = expand(&BenchConfig::default()).unwrap().configurations.remove(0);
        let times = ServiceTimes { device: vec![SimTime::from_us(100_000)], ..ServiceTimes::default() };
        let mut scheduler = Scheduler::new(&configuration, MockExecutor::new(vec![vec![times]]), 0).unwrap();
        scheduler.step(50).unwrap();
        let r = Report::of(&configuration, &mut scheduler.into_measurement(), ReportDetail::Summary);
        assert_eq!((r.status.as_str(), r.throughput_window), ("error", Some(10.0)));
        assert!(r.error.unwrap().starts_with("stopped after 5 s of 60 s"));
    }

    #[test]
    fn keys_are_complete_in_order_and_survive_both_encodings() {
        let (configuration, mut m) = measured(&BenchConfig::default(), SimTime::from_us(300_000));
        let failed = Report::failed(&configuration, "no room");
        for report in [failed, Report::of(&configuration, &mut m, ReportDetail::Latencies)] {
            let text = serde_json::to_string(&report).unwrap();
            let mut at = 0;
            for key in REPORT_KEYS {
                let found = text[at..].find(&format!("\"{key}\":"));
                at += found.unwrap_or_else(|| panic!("{key} is missing or out of order in {text}"));
            }
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value.as_object().unwrap().len(), REPORT_KEYS.len());
            assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
            let bytes = postcard::to_allocvec(&report).unwrap();
            assert_eq!(postcard::from_bytes::<Report>(&bytes).unwrap(), report);
        }
    }
}
