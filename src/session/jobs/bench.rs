//! Running a benchmark: its configurations one after another, each reported as a row when it ends.

use std::collections::VecDeque;

use super::{Job, JobState, Times, removed_note};
use crate::protocol::{JobResult, Part, Told};
use ns_base::convert::whole;
use ns_bench::{BenchConfig, Configuration, ConfigurationRun, ReportDetail, expand};

/// A benchmark in progress.
pub(crate) struct BenchJob {
    config: BenchConfig,
    /// Expanded at the first step.
    waiting: Option<VecDeque<Configuration>>,
    total: u32,
    running: Option<ConfigurationRun>,
    row: u32,
    times: Times,
    /// Notes that were already given, because several configurations have the same model.
    told: Vec<String>,
}

impl BenchJob {
    pub fn new(config: BenchConfig, times: Times) -> Self {
        Self { config, waiting: None, total: 0, running: None, row: 0, times, told: Vec::new() }
    }

    fn start(&mut self, sink: &mut dyn FnMut(Told)) -> Result<(), String> {
        let sweep = expand(&self.config).map_err(|e| e.to_string())?;
        for message in sweep.messages {
            sink(Told::Note(message));
        }
        self.total = u32::try_from(sweep.configurations.len()).unwrap_or(u32::MAX);
        self.waiting = Some(sweep.configurations.into());
        Ok(())
    }

    fn progress(&self, percent: f64, label: String) -> Told {
        // A thousandth of a configuration is one unit.
        let done = u64::from(self.row) * 1_000 + whole(percent * 10.0);
        Told::Progress { done, total: u64::from(self.total) * 1_000, label }
    }
}

impl Job for BenchJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Told)) -> Result<JobState, String> {
        if self.waiting.is_none() {
            self.start(sink)?;
            sink(self.progress(0.0, format!("Compiling {}", self.config.model)));
            return Ok(JobState::More);
        }
        let mut run = match self.running.take() {
            Some(run) => run,
            None => {
                let Some(next) = self.waiting.as_mut().and_then(VecDeque::pop_front) else {
                    sink(Told::Done(JobResult::AllParts));
                    return Ok(JobState::Done);
                };
                let times = self.times.of(&next);
                if let Some(message) = removed_note(&next, &times).filter(|m| !self.told.contains(m)) {
                    self.told.push(message.clone());
                    sink(Told::Note(message));
                }
                ConfigurationRun::new(next, times.as_ref().map_err(Clone::clone))
            }
        };
        let progress = run.step(u64::from(budget_events));
        if !progress.done {
            sink(self.progress(progress.percent, run.configuration().label()));
            self.running = Some(run);
            return Ok(JobState::More);
        }
        let report = Box::new(run.finish(ReportDetail::Summary).report);
        sink(Told::Part(Part::Report { row: self.row, report }));
        self.row += 1;
        Ok(JobState::More)
    }
}
