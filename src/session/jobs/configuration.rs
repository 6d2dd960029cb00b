//! Running one configuration of a sweep.

use super::{Job, JobState, StageTimes, removed_note};
use crate::protocol::{JobResult, Message, ResultPart, RunRequest};
use ns_base::convert::f64_to_u64;
use ns_bench::{ConfigurationRun, RunDetail};
use ns_device::ModelLibrary;
use ns_fidelity::put_beside;

/// A configuration in progress.
pub(crate) struct ConfigurationJob {
    row: u32,
    detail: RunDetail,
    times: StageTimes,
    models: ModelLibrary,
    state: State,
}

enum State {
    New(Box<RunRequest>),
    Live(Box<ConfigurationRun>),
    Over,
}

impl ConfigurationJob {
    pub fn new(request: RunRequest, times: StageTimes, models: ModelLibrary) -> Self {
        let (row, detail) = (request.row, request.detail);
        Self { row, detail, times, models, state: State::New(Box::new(request)) }
    }

    fn start(&mut self, request: RunRequest, sink: &mut dyn FnMut(Message)) {
        let RunRequest { configuration, times, .. } = request;
        let are_given = times.is_some();
        if let Some(times) = times {
            self.times.learn(&configuration, times);
        }
        let times = self.times.of(&configuration, &self.models);
        if let (false, Ok(times)) = (are_given, &times) {
            sink(Message::Part(ResultPart::Times { row: self.row, times: Box::new(times.clone()) }));
        }
        // Each configuration gives this note; the owner of a sweep shows it once.
        let removed = removed_note(&configuration, &times);
        removed.into_iter().for_each(|message| sink(Message::Note(message)));
        let run = ConfigurationRun::new(configuration, times.as_ref().map_err(Clone::clone));
        self.state = State::Live(Box::new(run));
    }

    fn tell_row(&self, run: ConfigurationRun, sink: &mut dyn FnMut(Message)) {
        let configuration = run.configuration().clone();
        let mut result = Box::new(run.finish(self.detail).0);
        put_beside(&mut result.report, &configuration);
        sink(Message::Done(JobResult::Row { row: self.row, result }));
    }
}

impl Job for ConfigurationJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::New(request) => {
                self.start(*request, sink);
                Ok(JobState::More)
            }
            State::Live(mut run) => {
                let progress = run.step(u64::from(budget_events));
                if progress.done {
                    self.tell_row(*run, sink);
                    return Ok(JobState::Done);
                }
                let done = f64_to_u64(progress.percent * 10.0);
                sink(Message::Progress { done, total: 1_000, label: run.configuration().label() });
                self.state = State::Live(run);
                Ok(JobState::More)
            }
            State::Over => Ok(JobState::Done),
        }
    }

    /// The measurements so far become a row, marked as stopped.
    fn stop(mut self: Box<Self>, sink: &mut dyn FnMut(Message)) {
        if let State::Live(run) = std::mem::replace(&mut self.state, State::Over) {
            self.tell_row(*run, sink);
        }
    }
}
