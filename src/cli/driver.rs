//! Drives a session to the end of one request.

use anyhow::{Result, anyhow};

use super::interrupt;
use super::progress::ProgressBar;
use crate::session::{ByteSource, Event, JobId, ProfileKey, Request, Session, StepResult};

/// Events simulated or read between two looks at the progress.
const BUDGET_EVENTS: u32 = 200_000;

/// A session and the terminal it reports to.
pub(super) struct Driver {
    session: Session,
    next_job: u32,
    bar: ProgressBar,
}

impl Driver {
    pub fn new() -> Self {
        Self { session: Session::new(), next_job: 1, bar: ProgressBar::new() }
    }

    /// A line on stderr, above the progress where it is shown.
    pub fn say(&mut self, line: &str) {
        self.bar.say(line);
    }

    /// Forgets a profile.
    pub fn close(&mut self, profile: ProfileKey) {
        self.session.handle(Request::Close { profile }, None);
    }

    /// Sends the request that `make` builds for a new job and runs it to its end; every event but progress.
    ///
    /// # Errors
    /// With the session's message, when the request failed.
    pub fn run(
        &mut self,
        make: impl FnOnce(JobId) -> Request,
        source: Option<Box<dyn ByteSource>>,
    ) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        self.run_with(make, source, &mut |event| events.push(event))?;
        Ok(events)
    }

    /// As [`Self::run`], with each event as it comes. Ctrl-C, where it is listened to, ends it before its time.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(
        &mut self,
        make: impl FnOnce(JobId) -> Request,
        source: Option<Box<dyn ByteSource>>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let job = JobId(self.next_job);
        self.next_job += 1;
        self.session.handle(make(job), source);
        let (bar, mut failed) = (&mut self.bar, None);
        loop {
            let state = self.session.step(BUDGET_EVENTS, &mut |event| match event {
                Event::Progress { done, total, label, .. } => bar.show(done, total, &label),
                Event::Note { message, .. } => bar.note(&message),
                Event::Failed { message, .. } => failed = Some(message),
                other => on_event(other),
            });
            if state == StepResult::Idle || interrupt::is_asked() {
                break;
            }
        }
        self.bar.clear();
        failed.map_or(Ok(()), |message| Err(anyhow!("{message}")))
    }
}
