//! Running an MLPerf scenario.

use super::{Job, JobState, Times};
use crate::bench::Configuration;
use crate::bench::mlperf::{MlperfSettings, run_scenario};
use crate::session::{Event, JobId};

/// A scenario to run, in one step: a run of the official 600 s is some hundred milliseconds, a search a dozen of them.
pub(in crate::session) struct MlperfJob {
    id: JobId,
    settings: MlperfSettings,
    configuration: Configuration,
    times: Times,
    is_announced: bool,
}

impl MlperfJob {
    pub fn new(id: JobId, settings: MlperfSettings, configuration: Configuration, times: Times) -> Self {
        Self { id, settings, configuration, times, is_announced: false }
    }
}

impl Job for MlperfJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        if !self.is_announced {
            let label = format!("{}: {}", self.settings.scenario.name(), self.configuration.label());
            sink(Event::Progress { job: self.id, done: 0, total: 0, label });
            self.is_announced = true;
            return Ok(JobState::More);
        }
        let times = self.times.of(&self.configuration)?;
        let result = Box::new(run_scenario(&self.settings, &self.configuration, &times)?);
        sink(Event::Mlperf { job: self.id, result });
        Ok(JobState::Done)
    }
}
