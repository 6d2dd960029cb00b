//! The facade: takes requests, works in steps, reports events.

use std::collections::VecDeque;

use super::{ByteSource, Catalog, Event, Request};

/// Whether a session has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Nothing is left to do.
    Idle,
    /// Call [`Session::step`] again.
    More,
}

/// Does what shells ask, a bounded amount at a time, so that a shell can show progress and cancel between steps.
#[derive(Default)]
pub struct Session {
    queue: VecDeque<Request>,
}

impl Session {
    /// A session that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a request; the work is done by [`Session::step`]. `source` is the file of a [`Request::Open`].
    pub fn handle(&mut self, request: Request, source: Option<Box<dyn ByteSource>>) {
        drop(source);
        self.queue.push_back(request);
    }

    /// Works for about `budget_events` simulated or read events and hands what there is to tell to `sink`.
    pub fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> StepResult {
        let _ = budget_events;
        let Some(request) = self.queue.pop_front() else { return StepResult::Idle };
        match request {
            Request::Catalog { job } => sink(Event::Catalog { job, catalog: Catalog::default() }),
            Request::Cancel { job } => sink(Event::Cancelled { job }),
            other => {
                if let Some(job) = other.job() {
                    sink(Event::Failed { job, message: format!("{}: not built yet", other.describe()) });
                }
            }
        }
        if self.queue.is_empty() { StepResult::Idle } else { StepResult::More }
    }
}
