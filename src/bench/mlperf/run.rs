//! Runs a scenario on an instance, and searches the highest rate a Server holds.

use crate::base::SimTime;
use crate::bench::configuration::Configuration;
use crate::bench::executor::SimulatedExecutor;
use crate::bench::measurement::{MAX_INFERENCES, Measurement};
use crate::bench::plan::estimate;
use crate::bench::scheduler::Scheduler;
use crate::bench::service::ServiceTimes;
use crate::bench::source::{Arrivals, Source, Streams};

use super::result::{Judge, MlperfResult};
use super::{MlperfSettings, Scenario};

/// Steps of the search for the highest rate: it ends within 0.1 % of the capacity.
const SEARCH_STEPS: u32 = 12;

/// Runs one scenario on the model copies and workers of a configuration. Its duration, dataset and accounting do not
/// count: the scenario's own limits do.
///
/// # Errors
/// When the settings, the configuration or its stage times can not be used, or the run would be too long.
pub fn run_scenario(
    settings: &MlperfSettings,
    configuration: &Configuration,
    times: &ServiceTimes,
) -> Result<MlperfResult, String> {
    settings.validate().map_err(|e| e.to_string())?;
    configuration.check().map_err(|e| e.to_string())?;
    times.check(configuration).map_err(|e| e.to_string())?;
    let run = Runner { settings, configuration, times };
    match settings.scenario {
        Scenario::SingleStream => run.streams(1),
        Scenario::MultiStream => run.streams(u64::from(settings.samples_per_query)),
        Scenario::Offline => run.offline(),
        Scenario::Server => match settings.target_qps {
            Some(qps) => run.server(qps),
            None => run.search(),
        },
    }
}

struct Runner<'a> {
    settings: &'a MlperfSettings,
    configuration: &'a Configuration,
    times: &'a ServiceTimes,
}

impl Runner<'_> {
    fn streams(&self, samples: u64) -> Result<MlperfResult, String> {
        let inferences = samples.div_ceil(u64::from(self.configuration.batch_size));
        let min_ps = SimTime::from_secs_f64(self.settings.min_duration_s).0;
        let source = Source::Streams(Streams::new(inferences, min_ps, self.settings.min_queries));
        let expected = (self.settings.min_duration_s / self.times.unloaded().to_secs_f64()) as u64;
        self.refuse_if_too_long(expected.max(self.settings.min_queries).saturating_mul(inferences))?;
        let measurement = self.simulate(source)?;
        Ok(self.judge(measurement).streams())
    }

    /// All samples are there at once; their number fills the duration.
    fn offline(&self) -> Result<MlperfResult, String> {
        let batch = u64::from(self.configuration.batch_size);
        let in_time = (self.capacity() * self.settings.min_duration_s) as u64;
        let samples = self.settings.min_queries.max(in_time.saturating_mul(batch));
        let inferences = samples.div_ceil(batch);
        self.refuse_if_too_long(inferences)?;
        let measurement = self.simulate(Source::Shared { left: inferences })?;
        Ok(self.judge(measurement).offline())
    }

    fn server(&self, qps: f64) -> Result<MlperfResult, String> {
        let in_time = libm::ceil(qps * self.settings.min_duration_s) as u64;
        let queries = in_time.max(self.settings.min_queries);
        self.refuse_if_too_long(queries)?;
        let arrivals = Arrivals::new(self.configuration.seed, 1e12 / qps, queries);
        let measurement = self.simulate(Source::Arrivals(arrivals))?;
        Ok(self.judge(measurement).server(qps))
    }

    /// The highest rate with a valid result, by bisection below what the instance could do without queueing.
    fn search(&self) -> Result<MlperfResult, String> {
        let (mut low, mut high) = (0.0, self.capacity() * 1.05);
        let mut best: Option<MlperfResult> = None;
        let mut last = None;
        for _ in 0..SEARCH_STEPS {
            let middle = (low + high) / 2.0;
            let result = self.server(middle)?;
            if result.verdict.is_valid() {
                (low, best) = (middle, Some(result));
            } else {
                (high, last) = (middle, Some(result));
            }
        }
        match (best, last) {
            (Some(best), _) => Ok(best),
            (None, Some(last)) => Ok(last),
            (None, None) => Err("no rate could be tried".to_owned()),
        }
    }

    /// Inferences per second of the tightest resource.
    fn capacity(&self) -> f64 {
        let second = Configuration { duration_s: 1_000.0, ..self.plain() };
        estimate(&second, self.times).inferences as f64 / 1_000.0
    }

    /// The configuration without what the scenario decides.
    fn plain(&self) -> Configuration {
        let mut plain = self.configuration.clone();
        plain.options.dataset = None;
        plain.options.accounting = crate::bench::Accounting::Window;
        plain.duration_s = self.settings.min_duration_s;
        plain
    }

    fn refuse_if_too_long(&self, inferences: u64) -> Result<(), String> {
        if inferences <= MAX_INFERENCES {
            return Ok(());
        }
        Err(format!(
            "about {inferences} inferences are more than the {MAX_INFERENCES} that one run records; use a shorter min_duration_s or fewer min_queries"
        ))
    }

    fn simulate(&self, source: Source) -> Result<Measurement, String> {
        let plain = self.plain();
        let executor = SimulatedExecutor::new(&plain, self.times);
        let mut scheduler = Scheduler::with_source(&plain, executor, 0, source).map_err(|e| e.to_string())?;
        scheduler.run_to_end().map_err(|e| e.to_string())?;
        Ok(scheduler.into_measurement())
    }

    fn judge(&self, measurement: Measurement) -> Judge<'_> {
        Judge::new(self.settings, self.configuration, measurement)
    }
}
