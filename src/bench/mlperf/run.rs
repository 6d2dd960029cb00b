//! Runs a scenario on an instance, and searches for the highest rate that a Server sustains.

use crate::DeviceType;
use crate::config::configuration::Configuration;
use crate::measured::measurement::{MAX_INFERENCES, Measurement};
use crate::run::estimate::estimate;
use crate::run::worker_trial::decide_workers;
use crate::scheduler::Scheduler;
use crate::scheduler::executor::SimulatedExecutor;
use crate::scheduler::source::{Arrivals, Source, Streams};
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::refuse;
use ns_base::{Refusal, SimTime};
use ns_device::{EstimateMark, ServiceTimes};

use super::result::{Judge, MlperfResult};
use super::{MlperfSettings, Scenario};

/// Steps of the search for the highest rate: it ends within 0.1 % of the capacity.
const SEARCH_STEPS: u32 = 12;

/// Runs one scenario on the model copies and workers of a configuration. The configuration's duration, dataset and accounting are
/// ignored: the scenario's own limits apply. Fails when the settings, the configuration or its stage times cannot be used, or the
/// run would be too long.
pub fn run_scenario(
    settings: &MlperfSettings,
    configuration: &Configuration,
    times: &ServiceTimes,
) -> Result<MlperfResult, Refusal> {
    let mut run = ScenarioRun::new(settings.clone(), configuration.clone(), times.clone())?;
    loop {
        if let ScenarioProgress::Done(result) = run.step(u64::MAX)? {
            return Ok(*result);
        }
    }
}

/// State of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioProgress {
    /// There is more to do.
    More {
        /// How much is done, 0 to 1.
        share: f64,
        /// The rate that is tried during a search: number of the try, number of tries, queries per second.
        trying: Option<(u32, u32, f64)>,
    },
    /// The result, with its verdict.
    Done(Box<MlperfResult>),
}

/// A scenario, worked on in bounded steps.
pub struct ScenarioRun {
    plan: Plan,
    scheduler: Option<Box<Scheduler<SimulatedExecutor>>>,
    /// Queries per second of the Server run in progress.
    qps: f64,
    search: Option<Search>,
}

/// The search for the highest rate with a valid result, by bisection below the capacity of the instance without queueing.
struct Search {
    low: f64,
    high: f64,
    tried: u32,
    best: Option<MlperfResult>,
    last: Option<MlperfResult>,
}

impl ScenarioRun {
    /// Prepares a scenario. Fails when the settings, the configuration or its stage times cannot be used, or the run would be too
    /// long.
    pub fn new(settings: MlperfSettings, configuration: Configuration, times: ServiceTimes) -> Result<Self, Refusal> {
        settings.validate().map_err(|e| Refusal::new(e.to_string()))?;
        configuration.check()?;
        if configuration.options.device_type == DeviceType::Cpu {
            return Err(refuse!("scenarios are simulated: leave device_type at neuron"));
        }
        times.check(configuration.pipeline_size)?;
        configuration.check_host_memory(times.weight_bytes)?;
        let configuration = decide_workers(configuration, &times);
        let plan = Plan { settings, configuration, times };
        let mut run = Self { plan, scheduler: None, qps: 0.0, search: None };
        if run.plan.settings.scenario == Scenario::Server {
            run.qps = match run.plan.settings.target_qps {
                Some(qps) => qps,
                None => {
                    let high = run.plan.capacity() * 1.05;
                    run.search = Some(Search { low: 0.0, high, tried: 0, best: None, last: None });
                    high / 2.0
                }
            };
        }
        run.begin()?;
        Ok(run)
    }

    fn begin(&mut self) -> Result<(), Refusal> {
        let source = self.plan.source(self.qps)?;
        self.scheduler = Some(Box::new(self.plan.scheduler(source)?));
        Ok(())
    }

    /// Handles up to `budget` events. Fails when the simulation cannot go on.
    pub fn step(&mut self, budget: u64) -> Result<ScenarioProgress, Refusal> {
        let Some(scheduler) = &mut self.scheduler else { return Err(refuse!("the scenario has ended")) };
        let progress = scheduler.step(budget)?;
        if !progress.done {
            return Ok(self.more(progress.percent / 100.0));
        }
        let Some(done) = self.scheduler.take() else { return Err(refuse!("the scenario has ended")) };
        let result = self.plan.judged(done.into_measurement(), self.qps);
        let Some(search) = &mut self.search else { return Ok(ScenarioProgress::Done(Box::new(result))) };
        if let Some(found) = search.learn(self.qps, result) {
            return Ok(ScenarioProgress::Done(Box::new(found)));
        }
        self.qps = (search.low + search.high) / 2.0;
        self.begin()?;
        Ok(self.more(0.0))
    }

    fn more(&self, share: f64) -> ScenarioProgress {
        match &self.search {
            None => ScenarioProgress::More { share, trying: None },
            Some(search) => ScenarioProgress::More {
                share: (f64::from(search.tried) + share) / f64::from(SEARCH_STEPS),
                trying: Some((search.tried + 1, SEARCH_STEPS, self.qps)),
            },
        }
    }
}

impl Search {
    /// Takes the result at a rate. After enough tries, returns the result at the highest valid rate, or else the best invalid one.
    fn learn(&mut self, qps: f64, result: MlperfResult) -> Option<MlperfResult> {
        // A rate at which no query was late is not too high: it lacks queries, and a higher rate has more of them.
        let is_too_high = !result.verdict.is_valid() && result.over_latency != Some(0);
        *(if is_too_high { &mut self.high } else { &mut self.low }) = qps;
        if result.verdict.is_valid() {
            self.best = Some(result);
        } else if self.last.as_ref().is_none_or(|last| is_nearer(&result, last)) {
            self.last = Some(result);
        }
        self.tried += 1;
        if self.tried < SEARCH_STEPS { None } else { self.best.take().or(self.last.take()) }
    }
}

/// The better of two invalid results: the one that kept its bound, then the higher rate of two that did,
/// and the lower rate of two that did not.
fn is_nearer(a: &MlperfResult, b: &MlperfResult) -> bool {
    match (a.verdict.performance_constraints, b.verdict.performance_constraints) {
        (true, true) => a.target_qps > b.target_qps,
        (false, false) => a.target_qps < b.target_qps,
        (is_kept, _) => is_kept,
    }
}

/// The scenario to run, and the values derived from it.
struct Plan {
    settings: MlperfSettings,
    configuration: Configuration,
    times: ServiceTimes,
}

impl Plan {
    /// The source of the scenario's queries.
    fn source(&self, qps: f64) -> Result<Source, Refusal> {
        match self.settings.scenario {
            Scenario::SingleStream => self.streams(1),
            Scenario::MultiStream => self.streams(u64::from(self.settings.samples_per_query)),
            Scenario::Offline => self.offline(),
            Scenario::Server => self.server(qps),
        }
    }

    fn streams(&self, samples: u64) -> Result<Source, Refusal> {
        let inferences = samples.div_ceil(u64::from(self.configuration.batch_size));
        let min_ps = SimTime::from_secs_f64(self.settings.min_duration_s).0;
        let expected = f64_to_u64(self.settings.min_duration_s / self.times.unloaded().to_secs_f64());
        self.refuse_if_too_long(expected.max(self.settings.min_queries).saturating_mul(inferences))?;
        Ok(Source::Streams(Streams::new(inferences, min_ps, self.settings.min_queries)))
    }

    /// All samples are available at once; their number fills the duration.
    fn offline(&self) -> Result<Source, Refusal> {
        let batch = u64::from(self.configuration.batch_size);
        let in_time = f64_to_u64(self.capacity() * self.settings.min_duration_s);
        let samples = self.settings.min_queries.max(in_time.saturating_mul(batch));
        let inferences = samples.div_ceil(batch);
        self.refuse_if_too_long(inferences)?;
        Ok(Source::Shared { left: inferences })
    }

    fn server(&self, qps: f64) -> Result<Source, Refusal> {
        let in_time = f64_to_u64(libm::ceil(qps * self.settings.min_duration_s));
        let queries = in_time.max(self.settings.min_queries);
        self.refuse_if_too_long(queries)?;
        Ok(Source::Arrivals(Arrivals::new(self.configuration.seed, 1e12 / qps, queries)))
    }

    fn judged(&self, measurement: Measurement, qps: f64) -> MlperfResult {
        let judge = Judge::new(&self.settings, &self.configuration, measurement);
        let result = match self.settings.scenario {
            Scenario::SingleStream | Scenario::MultiStream => judge.streams(),
            Scenario::Offline => judge.offline(),
            Scenario::Server => judge.server(qps),
        };
        MlperfResult { estimate: EstimateMark::of(&self.times.estimated_ops), ..result }
    }

    /// Inferences per second of the tightest resource.
    fn capacity(&self) -> f64 {
        let second = Configuration { duration_s: 1_000.0, ..self.plain() };
        u64_to_f64(estimate(&second, &self.times).inferences) / 1_000.0
    }

    /// The configuration without the settings that the scenario decides.
    fn plain(&self) -> Configuration {
        let mut plain = self.configuration.clone();
        plain.options.dataset = None;
        plain.options.accounting = crate::Accounting::Window;
        plain.duration_s = self.settings.min_duration_s;
        plain
    }

    fn refuse_if_too_long(&self, inferences: u64) -> Result<(), Refusal> {
        if inferences <= MAX_INFERENCES {
            Ok(())
        } else {
            Err(refuse!(
                "about {inferences} inferences are more than the {MAX_INFERENCES} that one run records; use a shorter min_duration_s or fewer min_queries"
            ))
        }
    }

    fn scheduler(&self, source: Source) -> Result<Scheduler<SimulatedExecutor>, Refusal> {
        let plain = self.plain();
        let executor = SimulatedExecutor::new(&plain, &self.times);
        Scheduler::with_source(&plain, executor, 0, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, expand};
    use ns_device::FixedModel;

    #[test]
    fn the_processor_has_no_scenarios() {
        let mut config = BenchConfig::default();
        config.options.device_type = DeviceType::Cpu;
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let settings = MlperfSettings::official(Scenario::Offline);
        let error = run_scenario(&settings, &configuration, &ServiceTimes::default()).unwrap_err();
        assert_eq!(error, refuse!("scenarios are simulated: leave device_type at neuron"));
    }

    #[test]
    fn steps_change_nothing_and_a_search_says_what_it_tries() {
        let model: FixedModel = "fixed:device_ms=10".parse().unwrap();
        let config = BenchConfig { instance_type: "inf1.6xlarge".into(), ..BenchConfig::default() };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let times = model.service_times(1);
        for scenario in Scenario::ALL {
            let settings = MlperfSettings {
                min_duration_s: 5.0,
                latency_bound_ms: Some(40.0),
                ..MlperfSettings::official(scenario)
            };
            let mut run = ScenarioRun::new(settings.clone(), configuration.clone(), times.clone()).unwrap();
            let (mut shares, mut tries) = (Vec::new(), Vec::new());
            let result = loop {
                match run.step(50).unwrap() {
                    ScenarioProgress::Done(result) => break *result,
                    ScenarioProgress::More { share, trying } => {
                        shares.push(share);
                        tries.extend(trying.map(|(n, _, _)| n));
                    }
                }
            };
            assert_eq!(result, run_scenario(&settings, &configuration, &times).unwrap());
            assert!(shares.windows(2).all(|w| w[0] <= w[1]) && shares.iter().all(|s| (0.0..1.0).contains(s)));
            tries.dedup();
            let expected: Vec<u32> = if scenario == Scenario::Server { (1..=SEARCH_STEPS).collect() } else { vec![] };
            assert_eq!(tries, expected);
            assert!(run.step(1).is_err());
        }
    }

    #[test]
    fn a_search_without_a_valid_rate_ends_near_the_bound() {
        let model: FixedModel = "fixed:device_ms=10".parse().unwrap();
        let config = BenchConfig { instance_type: "inf1.6xlarge".into(), ..BenchConfig::default() };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        // About 40 queries per second for one second are too few for early stopping, at any rate that keeps the bound.
        let settings = MlperfSettings {
            min_duration_s: 1.0,
            latency_bound_ms: Some(40.0),
            ..MlperfSettings::official(Scenario::Server)
        };
        let result = run_scenario(&settings, &configuration, &model.service_times(1)).unwrap();
        assert!(!result.verdict.is_valid() && result.verdict.performance_constraints, "{result:?}");
        assert!(result.target_qps.is_some_and(|qps| (10.0..100.0).contains(&qps)), "{result:?}");
    }
}
