//! Copies are set up, loaded and warm before the window opens.

use crate::base::stats::round_to;
use crate::base::{Interval, SimTime};
use crate::bench::config::configuration::Configuration;
use crate::bench::run::error::RunError;
use crate::bench::scheduler::executor::{Executor, SetupStep};
use crate::bench::scheduler::observer::RunObserver;
use crate::bench::scheduler::source::Source;

use super::run::Scheduler;

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    pub(super) fn bring_up(&mut self, configuration: &Configuration) {
        for model in 0..configuration.n_models {
            let timers = &mut self.measurement.timers;
            let mut ready = SimTime::ZERO;
            for (step, timers) in [
                (SetupStep::EnvSetup, &mut timers.env_setup),
                (SetupStep::Load, &mut timers.load),
                (SetupStep::Setup, &mut timers.setup),
            ] {
                let time = self.executor.setup_time(model, step);
                timers[model as usize].add(time);
                self.observer.setup(model, step, Interval::new(ready, ready + time));
                ready += time;
            }
            for _ in 0..configuration.warmup_inferences {
                let time = self.executor.setup_time(model, SetupStep::Warmup);
                timers.warmup[model as usize].add(time);
                self.observer.setup(model, SetupStep::Warmup, Interval::new(ready, ready + time));
                ready += time;
            }
            self.measurement.warmups += u64::from(configuration.warmup_inferences);
            self.measurement.bring_up = self.measurement.bring_up.max(ready);
        }
        self.observer.window_opens(self.measurement.bring_up);
    }

    /// NeuronPerf's clock starts before the copies are set up.
    pub(super) fn take_bring_up_from_window(&mut self, configuration: &Configuration) -> Result<(), RunError> {
        let Source::Window { end } = &mut self.source else { return Ok(()) };
        let bring_up = self.measurement.bring_up;
        *end = end.saturating_sub(bring_up.0);
        self.measurement.window = SimTime(*end);
        if *end > 0 {
            return Ok(());
        }
        let bring_up_s = round_to(bring_up.to_secs_f64(), 3).to_string();
        Err(RunError::TooShort { duration_s: configuration.duration_s.to_string(), bring_up_s })
    }
}
