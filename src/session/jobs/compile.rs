//! Compiling a model for a sweep of sizes and levels, one artifact per step.

use std::collections::VecDeque;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message, ResultPart};
use ns_bench::{CompileConfig, CompileTask};
use ns_device::ModelLibrary;

/// Compiles in progress.
pub(crate) struct CompileJob {
    config: CompileConfig,
    models: ModelLibrary,
    /// Listed at the first step.
    waiting: Option<VecDeque<CompileTask>>,
    row: u32,
}

impl CompileJob {
    pub fn new(config: CompileConfig, models: ModelLibrary) -> Self {
        Self { config, models, waiting: None, row: 0 }
    }

    fn progress(&self, waiting: &VecDeque<CompileTask>) -> Option<Message> {
        let total = u64::from(self.row) + waiting.len() as u64;
        // As NeuronPerf counts them: [i/n].
        let label = format!("[{}/{total}] Compiling {}", self.row + 1, waiting.front()?.label());
        Some(Message::Progress { done: u64::from(self.row), total, label })
    }
}

impl Job for CompileJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let Some(mut waiting) = self.waiting.take() else {
            let plan = self.config.plan().map_err(|e| e.to_string())?;
            plan.messages.into_iter().for_each(|message| sink(Message::Note(message)));
            let waiting: VecDeque<CompileTask> = plan.tasks.into();
            self.progress(&waiting).into_iter().for_each(sink);
            self.waiting = Some(waiting);
            return Ok(JobState::More);
        };
        let Some(task) = waiting.pop_front() else {
            sink(Message::Done(JobResult::AllParts));
            return Ok(JobState::Done);
        };
        sink(Message::Part(ResultPart::Compiled { row: self.row, compiled: Box::new(task.run(&self.models)) }));
        self.row += 1;
        self.progress(&waiting).into_iter().for_each(sink);
        self.waiting = Some(waiting);
        Ok(JobState::More)
    }
}
