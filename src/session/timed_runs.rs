//! Runs of configurations that keep the start and the end of every timer.

use std::collections::BTreeMap;

use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};
use ns_bench::{
    Configuration, ConfigurationRun, DeviceType, MOST_TIMED_INFERENCES, RowResult, RunDetail, ServiceTimes,
    SpanRecorder, TimedResults, decide_workers, service_times,
};
use ns_device::ModelLibrary;
use ns_fidelity::put_beside;

/// Runs configurations with a recorder of spans; compiled models are kept for the next configuration.
#[derive(Default)]
pub struct TimedRuns {
    times: BTreeMap<u64, ServiceTimes>,
    /// Models that were loaded.
    models: ModelLibrary,
    /// The results of the last run, if anything ran.
    pub last: Option<TimedResults>,
}

impl TimedRuns {
    /// No results yet; configurations may name these models.
    pub fn new(models: &ModelLibrary) -> Self {
        Self { models: models.clone(), ..Self::default() }
    }

    /// Runs a configuration and returns its row; its spans are in [`Self::last`] if anything ran. Fails when there are more
    /// inferences than can be kept, or when the processor is measured.
    pub fn run(
        &mut self,
        configuration: &Configuration,
        detail: RunDetail,
        is_stopped: impl Fn() -> bool,
    ) -> Result<RowResult, Refusal> {
        if configuration.options.device_type == DeviceType::Cpu {
            return Err(refuse!(
                "--return-timers: starts and ends are kept only for simulated runs; leave --json-format out for the timers of the processor"
            ));
        }
        let key = configuration.times_key();
        // Errors are not kept: others share the key of a configuration with more copies than cores.
        let checked = configuration.check().map_err(|error| error.to_string());
        let times = checked.and_then(|()| match self.times.get(&key) {
            Some(times) => Ok(times.clone()),
            None => service_times(configuration, &self.models).map_err(|error| error.to_string()),
        });
        if let Ok(times) = &times {
            self.times.insert(key, times.clone());
        }
        let configuration = &match &times {
            Ok(times) => decide_workers(configuration.clone(), times),
            Err(_) => configuration.clone(),
        };
        let recorder = SpanRecorder::new(configuration);
        let mut run = ConfigurationRun::observed(configuration.clone(), times.as_ref().map_err(Clone::clone), recorder);
        let expected = run.estimate().inferences;
        if expected > MOST_TIMED_INFERENCES {
            let longest = configuration.duration_s * (u64_to_f64(MOST_TIMED_INFERENCES) / u64_to_f64(expected)) * 0.99;
            return Err(refuse!(
                "--return-timers: about {expected} inferences are more than the {MOST_TIMED_INFERENCES} whose starts and ends are kept; give a --duration of at most {longest:.3}, or leave --json-format out for sums"
            ));
        }
        while !is_stopped() && !run.step(200_000).done {}
        let (mut row, recorder) = run.finish(RunDetail { timers: true, ..detail });
        put_beside(&mut row.report, configuration);
        if let (Some(recorder), Some(measurement), true) = (recorder, &row.measurement, row.report.is_finished()) {
            let Some(spans) = recorder.into_spans() else {
                return Err(refuse!(
                    "--return-timers: more than {MOST_TIMED_INFERENCES} inferences; give a shorter --duration"
                ));
            };
            self.last = Some(TimedResults::new(configuration, measurement, &row.report, spans));
        }
        Ok(row)
    }
}
