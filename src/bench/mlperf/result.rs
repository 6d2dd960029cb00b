//! The verdict on a run, with its reasons.

use serde::{Deserialize, Serialize};

use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;
use ns_base::Order;
use ns_base::convert::{f64_to_u64, f64_to_usize, u64_to_f64, usize_to_f64};
use ns_base::{SimTime, stats::round_to};
use ns_device::{EstimateMark, note_of_times};

use super::early_stopping::{EarlyStopping, discardable, queries_needed};
use super::{MlperfSettings, Scenario};

/// Whether a run counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The latency bound was kept; true for a scenario without a bound.
    pub performance_constraints: bool,
    /// The run was long enough.
    pub min_duration: bool,
    /// The minimum number of queries was reached.
    pub min_queries: bool,
    /// There were enough queries for confidence in the percentile.
    pub early_stopping: bool,
    /// What to do about each condition that is not satisfied, one sentence each.
    pub recommendations: Vec<String>,
}

impl Verdict {
    /// `VALID` when everything is satisfied.
    pub fn is_valid(&self) -> bool {
        self.performance_constraints && self.min_duration && self.min_queries && self.early_stopping
    }

    /// `VALID` or `INVALID`.
    pub fn word(&self) -> &'static str {
        if self.is_valid() { "VALID" } else { "INVALID" }
    }
}

/// The result of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlperfResult {
    pub scenario: Scenario,
    /// `VALID` or `INVALID`.
    pub result: String,
    /// The conditions behind the verdict.
    pub verdict: Verdict,
    /// Name of the figure.
    pub metric: String,
    /// The figure; for Single- and MultiStream the early-stopping estimate, if there is one.
    pub value: f64,
    /// Operators whose cost is a guess; absent when there are none.
    #[serde(default)]
    pub estimate: Option<EstimateMark>,
    /// Model specification.
    pub model: String,
    /// EC2 size.
    pub instance_type: String,
    /// Samples of one inference.
    pub batch_size: u32,
    /// Model copies.
    pub n_models: u32,
    /// Workers of one copy.
    pub workers_per_model: u32,
    /// Queries, or samples for Offline.
    pub queries: u64,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Target queries per second of a Server.
    pub target_qps: Option<f64>,
    /// The Server's latency bound, milliseconds.
    pub latency_bound_ms: Option<f64>,
    /// Queries over the bound.
    pub over_latency: Option<u64>,
    /// Mean latency of a query, milliseconds.
    pub latency_ms_mean: f64,
    /// Latencies by LoadGen's rule, `sorted[int(n * p)]`: p50, p90, p95, p97, p99, p99.9.
    pub latency_ms: [f64; 6],
}

const PERCENTILES: [f64; 6] = [0.50, 0.90, 0.95, 0.97, 0.99, 0.999];

/// Judges the measurement of a run.
pub(super) struct Judge<'a> {
    settings: &'a MlperfSettings,
    configuration: &'a Configuration,
    sorted_ps: Vec<u64>,
    elapsed: SimTime,
}

impl<'a> Judge<'a> {
    pub fn new(settings: &'a MlperfSettings, configuration: &'a Configuration, measurement: Measurement) -> Self {
        let elapsed = measurement.elapsed;
        let mut sorted_ps = measurement.latencies_ps().to_vec();
        sorted_ps.order();
        Self { settings, configuration, sorted_ps, elapsed }
    }

    /// The latency at a fraction, `sorted[int(n * p)]`: no interpolation.
    fn at(&self, fraction: f64) -> f64 {
        let n = self.sorted_ps.len();
        let rank = f64_to_usize(usize_to_f64(n) * fraction).min(n.saturating_sub(1));
        self.sorted_ps.get(rank).map_or(0.0, |ps| SimTime(*ps).to_ms_f64())
    }

    fn queries(&self) -> u64 {
        self.sorted_ps.len() as u64
    }

    pub fn streams(self) -> MlperfResult {
        let scenario = self.settings.scenario;
        let fraction = scenario.percentile();
        let mut verdict = self.limits(self.queries());
        let percent = f64_to_u64(fraction * 100.0);
        let value = match discardable(self.queries(), fraction) {
            EarlyStopping::Discard(slowest) => {
                verdict.early_stopping = true;
                let left = self.sorted_ps.len() - usize::try_from(slowest).unwrap_or(0);
                self.sorted_ps.get(left.saturating_sub(1)).map_or(0.0, |ps| SimTime(*ps).to_ms_f64())
            }
            EarlyStopping::Needs(least) => {
                verdict.recommendations.push(format!(
                    "early stopping: {} queries are too few for the {percent}th percentile, which needs {least}; raise min_queries",
                    self.queries()
                ));
                self.at(fraction)
            }
        };
        let metric = format!("{percent}th percentile latency (ms)");
        self.result(metric, value, verdict)
    }

    pub fn offline(self) -> MlperfResult {
        let samples = self.queries() * u64::from(self.configuration.batch_size);
        let mut verdict = self.limits(samples);
        // One query holds every sample, so there is no percentile to check.
        verdict.early_stopping = true;
        let value = u64_to_f64(samples) / self.elapsed.to_secs_f64();
        let mut result = self.result("Samples per second".to_owned(), value, verdict);
        result.queries = samples;
        result
    }

    pub fn server(self, qps: f64) -> MlperfResult {
        let bound_ms = self.settings.latency_bound_ms.unwrap_or(0.0);
        let bound = SimTime::from_ns_f64(bound_ms * 1e6);
        let within = self.sorted_ps.partition_point(|ps| *ps <= bound.0) as u64;
        let over = self.queries() - within;
        let fraction = self.settings.scenario.percentile();
        let mut verdict = self.limits(self.queries());
        verdict.performance_constraints = self.at(fraction) <= bound_ms;
        if !verdict.performance_constraints {
            let late = self.at(fraction);
            verdict.recommendations.push(format!(
                "performance: the 99th percentile is {} ms, the bound is {bound_ms} ms; lower target_qps",
                round_to(late, 3)
            ));
        }
        let needed = queries_needed(over, fraction);
        verdict.early_stopping = self.queries() >= needed;
        if !verdict.early_stopping {
            let more = needed - self.queries();
            // If no query is over the bound, a lower rate does not help.
            let remedy = if over == 0 { "run longer" } else { "run longer or lower target_qps" };
            verdict.recommendations.push(format!(
                "early stopping: with {over} queries over the bound, {more} more queries are needed; {remedy}"
            ));
        }
        // LoadGen counts completed queries, which equal the issued ones unless the queue grows.
        let value = u64_to_f64(self.queries()) / self.elapsed.to_secs_f64();
        let mut result = self.result("Completed queries per second".to_owned(), value, verdict);
        (result.target_qps, result.over_latency) = (Some(round_to(qps, 3)), Some(over));
        result
    }

    /// Checks duration and count; the other conditions are set later.
    fn limits(&self, count: u64) -> Verdict {
        let (wanted_s, ran_s) = (self.settings.min_duration_s, self.elapsed.to_secs_f64());
        // Arrivals and samples are planned to fill the duration; chance may end them a little before it.
        let slack = if matches!(self.settings.scenario, Scenario::Server | Scenario::Offline) { 0.98 } else { 1.0 };
        let mut verdict = Verdict {
            performance_constraints: true,
            min_duration: ran_s >= wanted_s * slack,
            min_queries: count >= self.settings.min_queries,
            ..Verdict::default()
        };
        if !verdict.min_duration {
            let ran_s = round_to(ran_s, 3);
            verdict
                .recommendations
                .push(format!("min_duration: the run lasted {ran_s} s of {wanted_s} s; raise min_queries"));
        }
        verdict
    }

    fn result(self, metric: String, value: f64, verdict: Verdict) -> MlperfResult {
        let c = self.configuration;
        let total: f64 = self.sorted_ps.iter().map(|ps| SimTime(*ps).to_ms_f64()).sum();
        let mean = if self.sorted_ps.is_empty() { 0.0 } else { total / usize_to_f64(self.sorted_ps.len()) };
        MlperfResult {
            scenario: self.settings.scenario,
            result: verdict.word().to_owned(),
            verdict,
            metric,
            value: round_to(value, 3),
            estimate: None,
            model: c.model.clone(),
            instance_type: c.instance_type.clone(),
            batch_size: c.batch_size,
            n_models: c.n_models,
            workers_per_model: c.workers_per_model,
            queries: self.queries(),
            duration_s: round_to(self.elapsed.to_secs_f64(), 3),
            target_qps: None,
            latency_bound_ms: self.settings.latency_bound_ms,
            over_latency: None,
            latency_ms_mean: round_to(mean, 3),
            latency_ms: PERCENTILES.map(|p| round_to(self.at(p), 3)),
        }
    }
}

impl MlperfResult {
    /// What stands before the figure: `at least ` before a time that holds operators without a known cost.
    pub fn before_value(&self) -> &'static str {
        let is_rate = matches!(self.scenario, Scenario::Offline | Scenario::Server);
        self.estimate.map_or("", if is_rate { EstimateMark::before_rate } else { EstimateMark::before_time })
    }

    /// The note below the times, if the cost of an operator is a guess.
    pub fn note_of_times(&self) -> Option<String> {
        note_of_times(self.estimate)
    }
}

/// `{"results": [...]}`, indented, ended by a newline. Fails when the encoder fails, which does not happen for numbers in memory.
pub fn mlperf_to_json(results: &[MlperfResult]) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&serde_json::json!({ "results": results }))?;
    text.push('\n');
    Ok(text)
}

/// The summary of a run, in LoadGen's wording.
pub fn mlperf_to_text(r: &MlperfResult) -> String {
    let yes = |b: bool| if b { "Yes" } else { "NO" };
    let v = &r.verdict;
    let mut text = format!(
        "{}: {} x {} workers of {}, batch {}\n{} : {}{}\nResult is : {}\n  Performance constraints satisfied : {}\n  Min duration satisfied : {}\n  Min queries satisfied : {}\n  Early stopping satisfied : {}\n",
        r.scenario.name(),
        r.n_models,
        r.workers_per_model,
        r.model,
        r.batch_size,
        r.metric,
        r.before_value(),
        r.value,
        r.result,
        yes(v.performance_constraints),
        yes(v.min_duration),
        yes(v.min_queries),
        yes(v.early_stopping),
    );
    if !v.recommendations.is_empty() {
        text.push_str("Recommendations:\n");
        v.recommendations.iter().for_each(|line| text.push_str(&format!(" * {line}\n")));
    }
    let [p50, p90, p95, p97, p99, p999] = r.latency_ms;
    text.push_str(&format!(
        "{} queries in {} s; latency ms: mean {}, p50 {p50}, p90 {p90}, p95 {p95}, p97 {p97}, p99 {p99}, p99.9 {p999}\n",
        r.queries, r.duration_s, r.latency_ms_mean
    ));
    text.extend(r.note_of_times().map(|note| format!("{note}\n")));
    text
}

#[cfg(test)]
mod tests {
    use super::super::run_scenario;
    use super::*;
    use crate::{BenchConfig, expand};
    use ns_device::{EstimatedOp, FixedModel, ServiceTimes};

    fn configuration(n_models: u32, workers: u32, jitter: f64) -> Configuration {
        let config = BenchConfig {
            instance_type: "inf1.6xlarge".into(),
            n_models: Some(vec![n_models]),
            workers_per_model: Some(vec![workers]),
            jitter,
            ..BenchConfig::default()
        };
        expand(&config).unwrap().configurations.remove(0)
    }

    fn run(settings: &MlperfSettings, n_models: u32, workers: u32) -> MlperfResult {
        let model: FixedModel = "fixed:device_ms=10".parse().unwrap();
        run_scenario(settings, &configuration(n_models, workers, 0.01), &model.service_times(1)).unwrap()
    }

    #[test]
    fn single_stream_is_one_latency_after_the_other() {
        let r = run(&MlperfSettings::official(Scenario::SingleStream), 1, 1);
        assert!(r.verdict.is_valid() && r.queries.abs_diff(60_000) < 100, "{r:?}");
        assert!((10.07..10.1).contains(&r.value) && r.value >= r.latency_ms[1], "{r:?}");
        let short =
            MlperfSettings { min_duration_s: 0.1, min_queries: 10, ..MlperfSettings::official(Scenario::SingleStream) };
        let r = run(&short, 1, 1);
        assert_eq!((r.result.as_str(), r.verdict.early_stopping), ("INVALID", false));
        assert!(r.verdict.recommendations[0].contains("needs 64"), "{r:?}");
    }

    #[test]
    fn multi_stream_waits_for_the_slowest_of_eight() {
        let settings = MlperfSettings { min_duration_s: 60.0, ..MlperfSettings::official(Scenario::MultiStream) };
        let wide = run(&settings, 8, 1);
        assert!(wide.verdict.is_valid() && (10.0..10.11).contains(&wide.value), "{wide:?}");
        let narrow = run(&settings, 1, 1);
        assert!((79.0..82.0).contains(&narrow.value), "{narrow:?}");
        assert!(narrow.queries.abs_diff(750) < 10);
    }

    #[test]
    fn offline_fills_every_core() {
        let r = run(&MlperfSettings { min_duration_s: 60.0, ..MlperfSettings::official(Scenario::Offline) }, 4, 1);
        assert!(r.verdict.is_valid() && (r.value / 400.0 - 1.0).abs() < 0.01 && r.queries >= 24_000, "{r:?}");
    }

    #[test]
    fn a_server_holds_its_bound_up_to_a_rate_that_is_found() {
        let mut settings = MlperfSettings { min_duration_s: 60.0, ..MlperfSettings::official(Scenario::Server) };
        settings.latency_bound_ms = Some(40.0);
        let best = run(&settings, 4, 1);
        assert!(best.verdict.is_valid() && (250.0..395.0).contains(&best.value), "{best:?}");
        assert!(best.latency_ms[4] <= 40.0);
        settings.target_qps = Some(best.target_qps.unwrap() * 1.1);
        let above = run(&settings, 4, 1);
        assert!(
            !above.verdict.is_valid() && above.verdict.recommendations.iter().any(|r| r.contains("lower target_qps"))
        );
        settings.target_qps = Some(500.0);
        let overloaded = run(&settings, 4, 1);
        assert!(overloaded.value < 405.0 && !overloaded.verdict.performance_constraints, "{overloaded:?}");
    }

    #[test]
    fn a_figure_that_holds_a_guess_says_so() {
        let short =
            MlperfSettings { min_duration_s: 0.1, min_queries: 10, ..MlperfSettings::official(Scenario::SingleStream) };
        let offline = MlperfSettings { min_duration_s: 0.1, ..MlperfSettings::official(Scenario::Offline) };
        let model: FixedModel = "fixed:device_ms=10".parse().unwrap();
        let unknown = EstimatedOp { op: "mine".to_owned(), count: 1, is_unknown: true, ..EstimatedOp::default() };
        let times = ServiceTimes { estimated_ops: vec![unknown], ..model.service_times(1) };
        let text = |settings: &MlperfSettings, times: &ServiceTimes| {
            mlperf_to_text(&run_scenario(settings, &configuration(1, 1, 0.0), times).unwrap())
        };
        let note = "Times are at least these: 1 operator without a known cost.\n";
        let (latency, rate) = (text(&short, &times), text(&offline, &times));
        assert!(latency.contains(" : at least 10") && latency.ends_with(note), "{latency}");
        assert!(rate.contains(" : at most ") && rate.ends_with(note), "{rate}");
        let plain = text(&short, &model.service_times(1));
        assert!(plain.contains(" : 10") && !plain.contains("known cost"), "{plain}");
    }

    #[test]
    fn few_server_queries_need_more_even_when_none_is_late() {
        let settings = MlperfSettings {
            min_duration_s: 1.0,
            min_queries: 392,
            latency_bound_ms: Some(1_000.0),
            target_qps: Some(50.0),
            ..MlperfSettings::official(Scenario::Server)
        };
        let r = run(&settings, 4, 1);
        assert_eq!((r.over_latency, r.verdict.early_stopping), (Some(0), false));
        assert!(r.verdict.recommendations[0].contains("67 more queries"), "{r:?}");
    }

    #[test]
    fn a_queue_of_one_server_waits_as_theory_says() {
        // M/D/1: mean wait = rho * service / (2 * (1 - rho)).
        let settings = MlperfSettings {
            min_duration_s: 4_000.0,
            latency_bound_ms: Some(1_000.0),
            target_qps: Some(70.0),
            ..MlperfSettings::official(Scenario::Server)
        };
        let model: FixedModel = "fixed:device_ms=10".parse().unwrap();
        let r = run_scenario(&settings, &configuration(1, 1, 0.0), &model.service_times(1)).unwrap();
        let theory = 10.0 + 0.7 * 10.0 / (2.0 * 0.3);
        assert!((r.latency_ms_mean / theory - 1.0).abs() < 0.02, "{} against {theory}", r.latency_ms_mean);
    }
}
