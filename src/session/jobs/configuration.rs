//! Running one configuration of a sweep.

use super::{Job, JobState, Times};
use crate::bench::{ConfigurationRun, RunDetail};
use crate::session::protocol::RunRequest;
use crate::session::{Event, JobId};

/// A configuration in progress.
pub(in crate::session) struct ConfigurationJob {
    id: JobId,
    row: u32,
    detail: RunDetail,
    times: Times,
    state: State,
}

enum State {
    New(Box<RunRequest>),
    Live(Box<ConfigurationRun>),
}

impl ConfigurationJob {
    pub fn new(id: JobId, request: RunRequest, times: Times) -> Self {
        let (row, detail) = (request.row, request.detail);
        Self { id, row, detail, times, state: State::New(Box::new(request)) }
    }

    fn row_event(id: JobId, row: u32, run: ConfigurationRun, detail: RunDetail) -> Event {
        Event::Row { job: id, row, result: Box::new(run.finish_with(detail)) }
    }
}

impl Job for ConfigurationJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        match &mut self.state {
            State::New(request) => {
                let configuration = request.configuration.clone();
                if let Some(times) = request.times.take() {
                    self.times.learn(&configuration, times);
                }
                let times = self.times.of(&configuration);
                let run = ConfigurationRun::new(configuration, times.as_ref().map_err(Clone::clone));
                self.state = State::Live(Box::new(run));
                Ok(JobState::More)
            }
            State::Live(run) => {
                let progress = run.step(u64::from(budget_events));
                if !progress.done {
                    let done = (progress.percent * 10.0) as u64;
                    let label = run.configuration().label();
                    sink(Event::Progress { job: self.id, done, total: 1_000, label });
                    return Ok(JobState::More);
                }
                let placeholder = State::New(Box::new(RunRequest {
                    row: self.row,
                    configuration: run.configuration().clone(),
                    times: None,
                    detail: self.detail,
                }));
                if let State::Live(run) = std::mem::replace(&mut self.state, placeholder) {
                    sink(Self::row_event(self.id, self.row, *run, self.detail));
                }
                Ok(JobState::Done)
            }
        }
    }

    /// What was measured until now is a row, marked as stopped.
    fn stop(self: Box<Self>, sink: &mut dyn FnMut(Event)) {
        if let State::Live(run) = self.state {
            sink(Self::row_event(self.id, self.row, *run, self.detail));
        }
    }
}
