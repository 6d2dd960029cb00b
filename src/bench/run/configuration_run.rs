//! One configuration from start to row, in steps that a worker drives. It never fails; a configuration that cannot
//! run becomes a failed row.

use serde::{Deserialize, Serialize};

use ns_base::{Cancel, Refusal, SimTime};

use super::estimate::{Estimate, estimate};
use super::worker_trial::decide_workers;
use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;
use crate::mlperf::MlperfResult;
use crate::reports::charts::RunCharts;
use crate::reports::report::{Report, ReportDetail};
use crate::scheduler::executor::SimulatedExecutor;
use crate::scheduler::observer::{NoObserver, RunObserver};
use crate::scheduler::{Progress, Scheduler, check_size};
use ns_device::{CallParts, EstimateMark, ServiceTimes};

/// What a configuration gives besides its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDetail {
    /// Level of detail of the row.
    pub report: ReportDetail,
    /// Histogram, cumulative curve and throughput over time.
    pub charts: bool,
    /// Everything that was measured: 8 bytes per inference.
    pub timers: bool,
}

/// What a configuration gave: its row, and the parts that were wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    pub report: Report,
    /// Its charts, if wanted and anything ran.
    pub charts: Option<RunCharts>,
    /// Everything it measured, if wanted and anything ran; its latencies are in order of completion.
    pub measurement: Option<Measurement>,
    /// The verdict, if it ran an MLPerf scenario.
    pub mlperf: Option<Box<MlperfResult>>,
}

impl RowResult {
    pub(crate) fn of(configuration: &Configuration, mut measurement: Measurement, detail: RunDetail) -> Self {
        // Reports and charts put the latencies into order of size.
        let kept = detail.timers.then(|| measurement.clone());
        let report = Report::of(configuration, &mut measurement, detail.report);
        let charts = detail.charts.then(|| RunCharts::of(configuration, &mut measurement));
        Self { report, charts, measurement: kept, mlperf: None }
    }

    /// A configuration that could not run.
    pub fn failed(configuration: &Configuration, error: impl std::fmt::Display) -> Self {
        Self { report: Report::failed(configuration, error), ..Self::default() }
    }

    /// A configuration whose scenario has ended. Its report describes the run but holds no measures: those figures
    /// are in the scenario's result.
    pub fn of_scenario(configuration: &Configuration, result: Box<MlperfResult>) -> Self {
        let workers_per_model = result.workers_per_model;
        let report = Report { status: "finished".to_owned(), workers_per_model, ..Report::described(configuration) };
        Self { report, mlperf: Some(result), ..Self::default() }
    }
}

/// A configuration on a simulated device, optionally with a listener.
pub struct ConfigurationRun<O = NoObserver> {
    configuration: Configuration,
    estimate: Estimate,
    /// Operators whose time is an estimate, in words and as a mark.
    estimated_ops: Option<String>,
    parts: Option<CallParts>,
    mark: Option<EstimateMark>,
    state: State<O>,
}

enum State<O> {
    Live(Box<Scheduler<SimulatedExecutor, O>>),
    Failed(String),
}

impl ConfigurationRun {
    /// Prepares a run. `times` are the model's stage times for this configuration, or the reason why it has none:
    /// the model could not be compiled, or does not fit in memory.
    pub fn new(configuration: Configuration, times: Result<&ServiceTimes, String>) -> Self {
        Self::observed(configuration, times, NoObserver)
    }

    /// Steps to the end, or until `cancel` asks to stop.
    pub fn run(mut self, cancel: &dyn Cancel, detail: RunDetail) -> RowResult {
        /// About 5 ms of work.
        const BUDGET: u64 = 50_000;
        while !cancel.is_cancelled() && !self.step(BUDGET).done {}
        self.finish(detail).0
    }
}

impl<O: RunObserver> ConfigurationRun<O> {
    /// As [`ConfigurationRun::new`], with a listener.
    pub fn observed(configuration: Configuration, times: Result<&ServiceTimes, String>, observer: O) -> Self {
        let configuration = match &times {
            Ok(times) => decide_workers(configuration, times),
            Err(_) => configuration,
        };
        let expected = times.as_ref().map_or_else(|_| Estimate::default(), |t| estimate(&configuration, t));
        let estimated_ops = times.as_ref().ok().and_then(|times| times.estimated_ops_text());
        let parts = times.as_ref().ok().map(|times| times.parts());
        let mark = times.as_ref().ok().and_then(|times| EstimateMark::of(&times.estimated_ops));
        let prepared = times
            .and_then(|times| prepare(&configuration, times, &expected, observer).map_err(|error| error.to_string()));
        let state = match prepared {
            Ok(scheduler) => State::Live(Box::new(scheduler)),
            Err(message) => State::Failed(message),
        };
        Self { configuration, estimate: expected, estimated_ops, mark, parts, state }
    }

    /// The expected work of the run; zero when it cannot run.
    pub fn estimate(&self) -> Estimate {
        self.estimate
    }

    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Handles up to `budget` events. A run that fails is done.
    pub fn step(&mut self, budget: u64) -> Progress {
        if let State::Live(scheduler) = &mut self.state {
            match scheduler.step(budget) {
                Ok(progress) => return progress,
                Err(error) => self.state = State::Failed(error.to_string()),
            }
        }
        Progress { done: true, now: SimTime::ZERO, percent: 100.0, inferences: 0 }
    }

    /// The row at this moment and the listener; no listener if the configuration could not run. The row of a run that is
    /// not done has status `error` and the measures so far.
    pub fn finish(self, detail: RunDetail) -> (RowResult, Option<O>) {
        let configuration = self.configuration;
        let scheduler = match self.state {
            State::Failed(message) => return (RowResult::failed(&configuration, message), None),
            State::Live(scheduler) => scheduler,
        };
        let (mut measurement, observer) = scheduler.into_parts();
        measurement.parts = self.parts;
        let mut result = RowResult::of(&configuration, measurement, detail);
        (result.report.estimated_ops, result.report.estimate) = (self.estimated_ops, self.mark);
        (result, Some(observer))
    }
}

fn prepare<O: RunObserver>(
    configuration: &Configuration,
    times: &ServiceTimes,
    expected: &Estimate,
    observer: O,
) -> Result<Scheduler<SimulatedExecutor, O>, Refusal> {
    configuration.check()?;
    check_size(configuration)?;
    times.check(configuration.pipeline_size)?;
    configuration.check_host_memory(times.weight_bytes)?;
    expected.check(configuration)?;
    let executor = SimulatedExecutor::new(configuration, times);
    if expected.window >= configuration.duration() || !configuration.may_be_shortened() {
        return Scheduler::observed(configuration, executor, expected.inferences, observer);
    }
    let shortened = Configuration { duration_s: expected.window.to_secs_f64(), ..configuration.clone() };
    Scheduler::observed(&shortened, executor, expected.inferences, observer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, expand};
    use ns_base::NeverCancel;

    fn times() -> ServiceTimes {
        ServiceTimes { device: vec![SimTime::from_us(500)], ..ServiceTimes::default() }
    }

    #[test]
    fn a_sweep_goes_on_after_rows_that_can_not_run() {
        let config = BenchConfig { n_models: Some(vec![3, 2]), duration_s: 0.1, ..BenchConfig::default() };
        let sweep = expand(&config).unwrap();
        let detail = RunDetail { timers: true, ..RunDetail::default() };
        let run = |c: &Configuration| ConfigurationRun::new(c.clone(), Ok(&times())).run(&NeverCancel, detail);
        let outcomes: Vec<RowResult> = sweep.configurations.iter().map(run).collect();
        let status: Vec<&str> = outcomes.iter().map(|o| o.report.status.as_str()).collect();
        assert_eq!(status, ["error", "finished", "error", "finished"]);
        let error = outcomes[0].report.error.as_deref().unwrap();
        assert_eq!(
            error,
            "n_models 3 x pipeline_size 1 needs 3 NeuronCores, trn1.2xlarge has 2; use at most 2 models or a larger instance"
        );
        assert!(outcomes[0].measurement.is_none() && outcomes[1].measurement.is_some());
    }

    #[test]
    fn wrong_times_and_no_times_are_failed_rows() {
        let first = || expand(&BenchConfig::default()).unwrap().configurations.remove(0);
        let error_of = |times: Result<&ServiceTimes, String>| {
            let mut run = ConfigurationRun::new(first(), times);
            assert!(run.step(10).done);
            run.finish(RunDetail::default()).0.report.error.unwrap()
        };
        assert_eq!(error_of(Err("no such model".into())), "no such model");
        assert!(error_of(Ok(&ServiceTimes::default())).contains("0 pipeline stages"));
        assert!(error_of(Ok(&times().with_even_pipeline(2))).contains("2 pipeline stages"));
        let nothing = ServiceTimes { device: vec![SimTime::ZERO], ..ServiceTimes::default() };
        assert!(error_of(Ok(&nothing)).contains("zero time"));
        let mut many = first();
        (many.instance_type, many.n_models, many.workers_per_model) = ("unknown".into(), 4_096, 4_096);
        let row = ConfigurationRun::new(many, Ok(&times())).finish(RunDetail::default()).0.report;
        assert!(row.error.unwrap().contains("makes 16777216 workers"));
        let fast = ServiceTimes { device: vec![SimTime::from_ns(1)], ..ServiceTimes::default() };
        assert!(error_of(Ok(&fast)).contains("duration_s of at most"));
        let slow = ServiceTimes { device: vec![SimTime(u64::MAX)], ..ServiceTimes::default() };
        assert!(error_of(Ok(&slow)).contains("at most 86400 s"));
    }

    #[test]
    fn a_row_says_that_it_ended_when_it_had_enough() {
        let config = |max| BenchConfig {
            options: crate::RunOptions { max_inferences: max, ..crate::RunOptions::default() },
            ..BenchConfig::default()
        };
        let row = |max| {
            let configuration = expand(&config(max)).unwrap().configurations.remove(3);
            ConfigurationRun::new(configuration, Ok(&times())).run(&NeverCancel, RunDetail::default()).report
        };
        let (short, long) = (row(Some(10_000)), row(None));
        assert_eq!(short.shortened.as_deref(), Some("2.50 s of 60 s have 9,984 inferences, which are enough"));
        assert_eq!((long.shortened, short.duration.as_str(), short.status.as_str()), (None, "60", "finished"));
        assert!((short.throughput_avg.unwrap() / long.throughput_avg.unwrap() - 1.0).abs() < 5e-4);
        assert!((short.latency_ms_p99.unwrap() / long.latency_ms_p99.unwrap() - 1.0).abs() < 1e-3);
        assert_eq!(row(Some(1_000_000)).shortened, None);
    }

    #[test]
    fn copies_need_memory_of_the_host_for_their_weights() {
        let config = BenchConfig { instance_type: "inf2.xlarge".into(), duration_s: 0.1, ..BenchConfig::default() };
        let rows = expand(&config).unwrap().configurations;
        let row = |n_models: usize, weight_bytes: u64| {
            let times = ServiceTimes { weight_bytes, ..times() };
            let run = ConfigurationRun::new(rows[n_models - 1].clone(), Ok(&times));
            run.run(&NeverCancel, RunDetail::default()).report
        };
        assert_eq!((row(1, 9 << 30).error, row(2, 8 << 30).error), (None, None));
        assert_eq!(
            row(2, 9 << 30).error.unwrap(),
            "n_models 2: each copy reads 9.00 GiB of weights, together 18.0 GiB, and the host of inf2.xlarge has 16.0 GiB of memory, room for 1; use fewer models or a larger instance"
        );
    }

    #[test]
    fn the_estimate_is_close_for_progress() {
        let mut run =
            ConfigurationRun::new(expand(&BenchConfig::default()).unwrap().configurations.remove(3), Ok(&times()));
        let mut events = 0;
        while !run.step(1_000).done {
            events += 1_000;
        }
        let expected = run.estimate().events as f64;
        assert!((events as f64 / expected - 1.0).abs() < 0.02, "{events} of {expected}");
    }
}
