//! `[(config, results)]` of NeuronPerf's `return_timers` as JSON: reads the reports that `get_reports` computes from it.
//!
//! A timer is its list of `[start, end]` in seconds of whatever clock; an object with that list as `timestamps` is read too.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::columns::Columns;
use crate::config::configuration::{Configuration, WorkerChoice};
use crate::config::options::{Processes, RunOptions};
use crate::cpu::{HostSamples, fill_samples};
use crate::measured::measurement::Measurement;
use crate::measured::timer::{Timer, Timers};
use crate::reports::beside::Beside;
use crate::reports::report::{Report, ReportDetail};
use ns_base::convert::f64_to_u64;
use ns_base::{Diagnostics, Order, SimTime};
use ns_base::{Refusal, refuse};

/// Keys of older configurations that a report does not hold.
const OLDER: [&str; 2] = ["input_idx", "cast_mode"];

/// A start and an end, seconds.
type Ends = (f64, f64);

/// An object whose values are texts.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// A configuration and its results.
pub(super) struct Pair<'a> {
    config: Fields<'a>,
    results: Fields<'a>,
}

/// The pair of a configuration and its results that a row is, if it is one.
pub(super) fn pair(row: &str) -> Option<Pair<'_>> {
    let (config, results): (Fields<'_>, Fields<'_>) = serde_json::from_str(row).ok()?;
    results.contains_key("timers").then_some(Pair { config, results })
}

fn values(fields: &Fields<'_>) -> Map<String, Value> {
    fields.iter().map(|(key, text)| (key.clone(), serde_json::from_str(text.get()).unwrap_or_default())).collect()
}

/// The report of a pair.
/// An error says what is wrong with its timers.
pub(super) fn read(
    pair: &Pair<'_>,
    cost_per_hour: Option<f64>,
    columns: &Columns,
    diagnostics: &mut Diagnostics,
) -> Result<Report, Refusal> {
    let Pair { config, results } = pair;
    let (config, mut results) = (values(config), results.clone());
    let timers = results.remove("timers").and_then(|timers| serde_json::from_str::<Fields<'_>>(timers.get()).ok());
    let timers = timers.ok_or_else(|| refuse!("timers is not an object"))?;
    let report = report(&config, &timers, &values(&results), cost_per_hour)?;
    Ok(with_config(&report, &config, columns, diagnostics))
}

/// The report, with the configuration's values under the keys of a report.
fn with_config(
    report: &Report,
    config: &Map<String, Value>,
    columns: &Columns,
    diagnostics: &mut Diagnostics,
) -> Report {
    let mut values = match serde_json::to_value(report) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    values.extend(config.iter().filter(|(k, _)| !OLDER.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone())));
    columns.report(values.iter().map(|(k, v)| (k.as_str(), v.clone())), diagnostics)
}

fn report(
    config: &Map<String, Value>,
    timers: &Fields<'_>,
    results: &Map<String, Value>,
    cost: Option<f64>,
) -> Result<Report, Refusal> {
    let lists = |name: &str| match timers.get(name) {
        Some(text) if text.get() != "null" => lists(name, text),
        _ => Ok(Vec::new()),
    };
    let e2e = lists("e2e")?;
    let mut inferences: Vec<Ends> = e2e.iter().flatten().copied().collect();
    inferences.order_by(|a, b| a.1.total_cmp(&b.1));
    let starts = ["e2e", "worker"].iter().map(|name| lists(name)).collect::<Result<Vec<_>, _>>()?;
    let opened = starts.iter().flatten().flatten().map(|p| p.0).fold(f64::INFINITY, f64::min);
    // Whole seconds are subtracted, so that each end stays in its second.
    let origin = if opened.is_finite() { libm::floor(opened) } else { 0.0 };
    let times = Timers {
        env_setup: sums(&lists("env_setup")?),
        setup: sums(&lists("setup")?),
        load: sums(&lists("load")?),
        input: sums(&lists("input")?),
        warmup: sums(&lists("warmup")?),
        preprocess: sums(&lists("preprocess")?),
        infer: sums(&lists("infer")?),
        postprocess: sums(&lists("postprocess")?),
        e2e: sums(&e2e),
        worker: sums(&lists("worker")?),
    };
    let configuration = configuration(config, cost);
    let count = inferences.len() as u64;
    let mut measured = Measurement::new(SimTime::ZERO, times, count)?;
    for (start, end) in inferences {
        measured.record(time(end - origin), time(end - start))?;
    }
    measured.elapsed = if opened.is_finite() { measured.elapsed - time(opened - origin) } else { SimTime::ZERO };
    let all = results.get("n_infs").and_then(Value::as_u64).unwrap_or(count);
    measured.warmups = all.saturating_sub(count).min(u64::from(u32::MAX));
    measured.finished = results.get("status").and_then(Value::as_str).is_none_or(|s| s == "finished");
    let mut report = Report::of(&configuration, &mut measured, ReportDetail::Summary);
    if let Some(status) = results.get("status").and_then(Value::as_str).filter(|s| *s != "finished") {
        report.error = Some(format!("the file says that the run ended as '{status}'"));
    }
    let total = results.get("total_s").and_then(Value::as_f64).filter(|s| s.is_finite());
    report.total_s = total;
    (report.compiler_args, report.workflow) = (None, None);
    let percents = |key: &str| -> Vec<f64> {
        results.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let samples = HostSamples { cpu: percents("cpu_percents"), memory: percents("mem_percents") };
    fill_samples(&mut report, &samples);
    // A file of neuronscope says what stood beside the figures of its row.
    if let Some(beside) = results.get("neuronscope").and_then(|own| Beside::deserialize(own).ok()) {
        beside.put(&mut report);
    }
    Ok(report)
}

/// The inputs of a report; the texts of the configuration are added afterwards.
fn configuration(config: &Map<String, Value>, cost_per_hour: Option<f64>) -> Configuration {
    let count = |key: &str| {
        let n = config.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        n.unwrap_or(1).max(1)
    };
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let instance_type = text("instance_type");
    let price = ns_machine::arch::instance(&instance_type).and_then(|i| i.usd_per_hour);
    let processes = match config.get("multiprocess").and_then(Value::as_bool) {
        Some(false) => Processes::Shared,
        _ => Processes::PerModel,
    };
    Configuration {
        model: text("model_filename"),
        model_name: text("model_name"),
        instance_type,
        batch_size: count("batch_size"),
        n_models: count("n_models"),
        workers_per_model: count("workers_per_model"),
        worker_choice: WorkerChoice::Given,
        pipeline_size: count("pipeline_size"),
        performance_level: 3,
        duration_s: text("duration").parse().unwrap_or(0.0),
        seed: 0,
        cost_per_hour: cost_per_hour.or(price),
        warmup_inferences: 0,
        jitter: 0.0,
        inputs: None,
        model_file: None,
        input_idx: 0,
        cast_mode: None,
        options: RunOptions { processes, ..RunOptions::default() },
        is_host_endless: false,
    }
}

/// The timers of a name, each with its pairs.
fn lists(name: &str, text: &RawValue) -> Result<Vec<Vec<Ends>>, Refusal> {
    let timers: Vec<&RawValue> =
        serde_json::from_str(text.get()).map_err(|_| refuse!("the timer {name} is not a list"))?;
    let mut lists = Vec::with_capacity(timers.len());
    for (number, timer) in (1..).zip(timers) {
        let timer = timer.get();
        let pairs = match serde_json::from_str::<Fields<'_>>(timer) {
            Ok(fields) => fields.get("timestamps").map_or("", |text| text.get()),
            Err(_) => timer,
        };
        let pairs: Vec<&RawValue> = serde_json::from_str(pairs)
            .map_err(|_| refuse!("timer {number} of {name} is not a list of [start, end]"))?;
        let read = |(span, pair): (usize, &RawValue)| {
            let ends: Option<Ends> = serde_json::from_str(pair.get()).ok();
            let fits = ends.filter(|(start, end)| end >= start && start.abs() < 1e9 && end - start < 1e6);
            let wrong = || refuse!("span {span} of timer {number} of {name} is {pair}, not [start, end] in seconds");
            fits.ok_or_else(wrong)
        };
        lists.push((1..).zip(pairs).map(read).collect::<Result<_, _>>()?);
    }
    Ok(lists)
}

/// Converts seconds of a file to the picoseconds that reports are computed from. The resulting reports state that they are imported.
fn time(seconds: f64) -> SimTime {
    SimTime(f64_to_u64(libm::round(seconds.max(0.0) * 1e12)))
}

fn sums(lists: &[Vec<Ends>]) -> Vec<Timer> {
    let sum = |pairs: &Vec<Ends>| {
        let mut timer = Timer::default();
        pairs.iter().for_each(|(start, end)| timer.add(time(end - start)));
        timer
    };
    lists.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use crate::import::{read_reports, read_reports_at};
    use crate::{
        BenchConfig, ConfigurationRun, Interval, Report, RunDetail, ServiceTimes, SpanRecorder, TimedResults, expand,
    };
    use ns_base::SimTime;

    /// Runs with spans: their own reports, and the text of their timers.
    fn runs() -> (Vec<Report>, String) {
        let times = ServiceTimes {
            load: SimTime::from_us(62_000),
            device: vec![SimTime::from_us(9_000)],
            ..ServiceTimes::default()
        };
        let config = BenchConfig { duration_s: 4.0, batch_sizes: vec![2], ..BenchConfig::default() };
        let (mut reports, mut results) = (Vec::new(), Vec::new());
        for c in expand(&config).unwrap().configurations {
            let mut run = ConfigurationRun::observed(c.clone(), Ok(&times), SpanRecorder::new(&c));
            while !run.step(1_000).done {}
            let (mut row, recorder) = run.finish(RunDetail { timers: true, ..RunDetail::default() });
            row.report.interval =
                Some(Interval { throughput_low: 90.0, throughput_high: 120.0, ..Interval::default() });
            let spans = recorder.unwrap().into_spans().unwrap();
            results.push(TimedResults::new(&c, row.measurement.as_ref().unwrap(), &row.report, spans));
            reports.push(row.report);
        }
        (reports, serde_json::to_string(&results).unwrap())
    }

    #[test]
    fn reports_of_pairs_are_the_runs_own() {
        let (own, text) = runs();
        let read = read_reports("t.json", text.as_bytes()).unwrap();
        assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
        assert_eq!(read.reports.len(), own.len());
        for (read, own) in read.reports.iter().zip(&own) {
            // A file of pairs has no window, no compiler flags, and nothing about what copies share or the parts of a call.
            let expected = Report {
                throughput_window: None,
                host_busy_percent: None,
                path_busy_percent: None,
                call_host_ms: None,
                call_link_ms: None,
                call_device_ms: None,
                call_wait_ms: None,
                compiler_args: None,
                workflow: None,
                source: "imported".to_owned(),
                machine: Some("t.json".to_owned()),
                ..own.clone()
            };
            assert_eq!(*read, expected);
        }
        let dearer = read_reports_at("t.json", text.as_bytes(), Some(10.0)).unwrap().reports;
        let rate = dearer[0].throughput_avg.unwrap();
        assert!((dearer[0].cost_per_1m_inf.unwrap() - 10.0 * 1e6 / 3_600.0 / rate).abs() < 1e-3);
    }

    #[test]
    fn timers_of_a_script_are_read_and_wrong_ones_named() {
        let text = r#"[[{"model_filename": "m.pt", "batch_size": 2, "n_models": 1, "workers_per_model": 1, "cast_mode": null, "input_idx": 0},
              {"n_infs": 5, "status": "finished", "total_s": 4.5, "cpu_percents": [1, 20, 30, 40, 9], "mem_percents": [1, 2, 2, 2, 9],
               "timers": {"e2e": [{"timestamps": [[1000.25, 1000.75], [1000.75, 1001.5], [1001.5, 1002.25], [1002.25, 1003.5]]}], "warmup": [[[999, 1000]]]}}],
             [{}, {"timers": {"e2e": [[[2, 1]]]}}], [{}, {"timers": {"e2e": 5}}]]"#;
        let read = read_reports("np.json", text.as_bytes()).unwrap();
        let r = &read.reports[0];
        // Ends in the seconds 1000, 1001, 1002 and 1003: one inference of two samples each.
        assert_eq!((r.throughput_avg, r.throughput_peak, r.total_infs), (Some(2.0), Some(2.0), Some(10)));
        assert_eq!((r.latency_ms_p0, r.latency_ms_p100, r.warmup_avg_ms), (Some(500.0), Some(1250.0), Some(1000.0)));
        assert_eq!((r.cpu_percent_p50, r.total_s, r.model_filename.as_str()), (Some(30.0), Some(4.5), "m.pt"));
        let said: Vec<String> = read.diagnostics.items().iter().map(|d| d.to_string()).collect();
        assert_eq!(read.diagnostics.count("bad_row"), 2, "{said:?}");
        assert!(said[0].contains("row 2: span 1 of timer 1 of e2e is [2, 1], not [start, end] in seconds"), "{said:?}");
    }
}
