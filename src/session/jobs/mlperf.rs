//! Running an MLPerf scenario.

use super::{Job, JobState, StageTimes};
use crate::protocol::{JobResult, Message};
use ns_base::convert::f64_to_u64;
use ns_base::stats::round_to;
use ns_bench::Configuration;
use ns_bench::mlperf::{MlperfSettings, ScenarioProgress, ScenarioRun};
use ns_device::ModelLibrary;

/// A scenario in progress.
pub(crate) struct MlperfJob {
    settings: MlperfSettings,
    configuration: Configuration,
    times: StageTimes,
    models: ModelLibrary,
    stage: Stage,
}

enum Stage {
    New,
    /// The job has been announced; the next step compiles.
    Compile,
    Run(Box<ScenarioRun>),
}

impl MlperfJob {
    pub fn new(
        settings: MlperfSettings,
        configuration: Configuration,
        times: StageTimes,
        models: ModelLibrary,
    ) -> Self {
        Self { settings, configuration, times, models, stage: Stage::New }
    }

    fn progress(&self, share: f64, trying: Option<(u32, u32, f64)>) -> Message {
        let mut label = format!("{}: {}", self.settings.scenario.name(), self.configuration.label());
        if let Some((n, of, qps)) = trying {
            label.push_str(&format!(", try {n} of {of}: {} queries/s", round_to(qps, 1)));
        }
        Message::Progress { done: f64_to_u64(share * 1_000.0), total: 1_000, label }
    }
}

impl Job for MlperfJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let run = match &mut self.stage {
            Stage::New => {
                sink(self.progress(0.0, None));
                self.stage = Stage::Compile;
                return Ok(JobState::More);
            }
            Stage::Compile => {
                let times = self.times.of(&self.configuration, &self.models)?;
                if let Some(ops) = times.estimated_ops_text() {
                    sink(Message::Note(format!("the time of these operators is an estimate: {ops}")));
                }
                let run = ScenarioRun::new(self.settings.clone(), self.configuration.clone(), times);
                let run = run.map_err(|e| e.to_string())?;
                self.stage = Stage::Run(Box::new(run));
                return Ok(JobState::More);
            }
            Stage::Run(run) => run,
        };
        match run.step(u64::from(budget_events)).map_err(|e| e.to_string())? {
            ScenarioProgress::More { share, trying } => {
                sink(self.progress(share, trying));
                Ok(JobState::More)
            }
            ScenarioProgress::Done(result) => {
                sink(Message::Done(JobResult::Mlperf(result)));
                Ok(JobState::Done)
            }
        }
    }
}
