//! Compiling a model for a sweep of sizes and levels, one artifact a step.

use std::collections::VecDeque;

use super::{Job, JobState};
use crate::bench::{CompileConfig, CompileTask};
use crate::session::{Event, JobId};

/// Compiles in progress.
pub(in crate::session) struct CompileJob {
    id: JobId,
    config: CompileConfig,
    /// Listed at the first step.
    waiting: Option<VecDeque<CompileTask>>,
    row: u32,
}

impl CompileJob {
    pub fn new(id: JobId, config: CompileConfig) -> Self {
        Self { id, config, waiting: None, row: 0 }
    }

    fn progress(&self, waiting: &VecDeque<CompileTask>) -> Option<Event> {
        let total = u64::from(self.row) + waiting.len() as u64;
        // As NeuronPerf counts them: [i/n].
        let label = format!("[{}/{total}] Compiling {}", self.row + 1, waiting.front()?.label());
        Some(Event::Progress { job: self.id, done: u64::from(self.row), total, label })
    }
}

impl Job for CompileJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        let job = self.id;
        let Some(mut waiting) = self.waiting.take() else {
            let plan = self.config.plan().map_err(|e| e.to_string())?;
            plan.messages.into_iter().for_each(|message| sink(Event::Note { job, message }));
            let waiting: VecDeque<CompileTask> = plan.tasks.into();
            self.progress(&waiting).into_iter().for_each(sink);
            self.waiting = Some(waiting);
            return Ok(JobState::More);
        };
        let Some(task) = waiting.pop_front() else {
            sink(Event::BenchDone { job });
            return Ok(JobState::Done);
        };
        sink(Event::Compiled { job, row: self.row, compiled: Box::new(task.run()) });
        self.row += 1;
        self.progress(&waiting).into_iter().for_each(sink);
        self.waiting = Some(waiting);
        Ok(JobState::More)
    }
}
