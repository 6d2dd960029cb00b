//! The number of workers of a pipeline, found by trial: NeuronPerf's guide promises the optimal number, and what it is
//! depends on the stages, on the work of the host and on what the copies share.

use ns_base::Order;
use ns_base::SimTime;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_number;

use super::estimate::estimate;
use crate::config::configuration::{Configuration, WorkerChoice};
use crate::config::options::Accounting;
use crate::scheduler::Scheduler;
use crate::scheduler::executor::SimulatedExecutor;
use ns_device::ServiceTimes;

/// Most workers of a copy that a trial runs.
const MOST_WORKERS: u32 = 256;
/// Inferences of a trial, so that one more or less hardly counts.
const INFERENCES: f64 = 4_000.0;
/// Inferences that each worker makes at least, so that the first ones, which fill the pipeline, hardly count.
const OF_EACH_WORKER: u64 = 50;
/// Share of the highest throughput that is as good as it.
const AS_GOOD: f64 = 0.999;

/// The configuration with its number of workers decided: the same, or the result of a trial in simulated time. The number is
/// the smallest one with (nearly) the highest throughput, because each further worker only waits and lengthens the latency.
pub fn decide_workers(mut configuration: Configuration, times: &ServiceTimes) -> Configuration {
    if configuration.worker_choice != WorkerChoice::ByTrial || times.check(configuration.pipeline_size).is_err() {
        return configuration;
    }
    let mut trial = Trial::new(&configuration, times);
    if let Some(workers) = trial.best() {
        configuration.workers_per_model = workers;
        configuration.worker_choice = WorkerChoice::Tried(trial.in_words());
    }
    configuration
}

/// The numbers of workers that were tried, each with its throughput, in order.
struct Trial<'a> {
    configuration: Configuration,
    times: &'a ServiceTimes,
    tried: Vec<(u32, f64)>,
}

impl<'a> Trial<'a> {
    fn new(configuration: &Configuration, times: &'a ServiceTimes) -> Self {
        let mut configuration = configuration.clone();
        configuration.options.dataset = None;
        configuration.options.accounting = Accounting::Window;
        configuration.warmup_inferences = 0;
        // The length of a trial must not depend on the length of a run.
        configuration.duration_s = 1.0;
        let second = u64_to_f64(estimate(&configuration, times).inferences.max(1));
        let duration_s = (INFERENCES / second).max(times.unloaded().times(OF_EACH_WORKER).to_secs_f64());
        Self { configuration: Configuration { duration_s, ..configuration }, times, tried: Vec::new() }
    }

    /// The smallest number with nearly the highest throughput; `None` when none can run.
    fn best(&mut self) -> Option<u32> {
        // NeuronPerf's number first. Then half as many again, until that no longer helps.
        let first = self.configuration.pipeline_size.saturating_sub(1).max(1);
        let (mut workers, mut highest) = (first, self.try_out(first)?);
        while workers < MOST_WORKERS {
            workers = (workers + (workers / 2).max(1)).min(MOST_WORKERS);
            let Some(rate) = self.try_out(workers) else { break };
            if workers > first + 1 && rate * AS_GOOD < highest {
                break;
            }
            highest = highest.max(rate);
        }
        let enough = |rate: f64| rate >= highest * AS_GOOD;
        let mut found = self.tried.iter().find(|(_, rate)| enough(*rate)).map(|(workers, _)| *workers)?;
        // Between the largest number that is too small and the one found, the smallest is searched.
        let mut too_small =
            self.tried.iter().map(|(w, _)| *w).take_while(|w| *w < found).last().unwrap_or(0).max(first - 1);
        while found - too_small > 1 {
            let middle = too_small + (found - too_small) / 2;
            match self.try_out(middle) {
                Some(rate) if enough(rate) => found = middle,
                _ => too_small = middle,
            }
        }
        Some(found)
    }

    /// Inferences a second with this many workers; `None` when they cannot run.
    fn try_out(&mut self, workers_per_model: u32) -> Option<f64> {
        if let Some((_, known)) = self.tried.iter().find(|(workers, _)| *workers == workers_per_model) {
            return Some(*known);
        }
        let configuration = Configuration { workers_per_model, ..self.configuration.clone() };
        let executor = SimulatedExecutor::new(&configuration, self.times);
        let mut scheduler = Scheduler::new(&configuration, executor, 0).ok()?;
        scheduler.run_to_end().ok()?;
        let measured = scheduler.into_measurement();
        let rate = (measured.window > SimTime::ZERO)
            .then(|| u64_to_f64(measured.in_window) / measured.window.to_secs_f64())?;
        self.tried.push((workers_per_model, rate));
        self.tried.order_by_key(|(workers, _)| *workers);
        Some(rate)
    }

    /// `1: 333/s, 2: 500/s, 3: 500/s`, in samples a second.
    fn in_words(&self) -> String {
        let batch = f64::from(self.configuration.batch_size);
        let each = self.tried.iter().map(|(workers, rate)| format!("{workers}: {}/s", format_number(rate * batch)));
        each.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, expand};

    fn us(us: u64) -> SimTime {
        SimTime::from_us(us)
    }

    fn pipeline(stages: u32, config: BenchConfig) -> Configuration {
        let config = BenchConfig { pipeline_sizes: vec![stages], duration_s: 2.0, ..config };
        expand(&config).unwrap().configurations.remove(0)
    }

    fn times(call: u64, device: &[u64]) -> ServiceTimes {
        ServiceTimes { call: us(call), device: device.iter().map(|t| us(*t)).collect(), ..ServiceTimes::default() }
    }

    #[test]
    fn the_number_follows_from_the_stages_and_the_host() {
        let of = |call, device: &[u64]| {
            let inf1 = BenchConfig { instance_type: "inf1.6xlarge".into(), ..BenchConfig::default() };
            decide_workers(pipeline(device.len() as u32, inf1), &times(call, device)).workers_per_model
        };
        // Two even stages and nothing else: one request in each, and with jitter one more in reserve.
        assert!((2..=3).contains(&of(0, &[3_000, 3_000])));
        // One stage of 1 ms in a call of 10 ms on the host: eleven workers keep it busy.
        assert!((11..=13).contains(&of(10_000, &[1_000, 500])), "{}", of(10_000, &[1_000, 500]));
    }

    #[test]
    fn a_trial_names_its_numbers_and_does_not_depend_on_the_run() {
        let one = pipeline(2, BenchConfig::default());
        let times = times(900, &[1_000, 1_000]);
        let configuration = decide_workers(one.clone(), &times);
        let WorkerChoice::Tried(text) = &configuration.worker_choice else {
            panic!("{:?}", configuration.worker_choice)
        };
        assert!(text.starts_with("1: ") && text.contains(&format!("{}: ", configuration.workers_per_model)), "{text}");
        assert_eq!(decide_workers(configuration.clone(), &times), configuration, "what is decided stays");
        let short = decide_workers(Configuration { duration_s: 0.01, ..one.clone() }, &times);
        assert_eq!(short.worker_choice, configuration.worker_choice);
        let given = Configuration { worker_choice: WorkerChoice::Given, ..one };
        assert_eq!(decide_workers(given.clone(), &times), given);
    }
}
