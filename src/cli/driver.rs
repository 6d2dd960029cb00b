//! Drives a session to the end of one request.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};

use super::interrupt;
use super::progress::ProgressBar;
use ns_readers::read_model;
use ns_session::{
    Ask, ByteSource, Control, Event, JobId, Message, ModelLibrary, ProfileKey, Request, Session, StepResult,
};

/// Events simulated or read between two updates of the progress.
const BUDGET_EVENTS: u32 = 200_000;

/// A session and the terminal it reports to.
pub(super) struct Driver {
    session: Session,
    next_job: u32,
    bar: ProgressBar,
    /// Notes that were printed: the configurations of a sweep give the same notes.
    noted: BTreeSet<String>,
}

impl Driver {
    pub fn new() -> Self {
        Self::of(Session::new())
    }

    /// A session whose simulated executions begin at this moment, in seconds since 1970.
    pub fn starting_at(run_start_s: i64) -> Self {
        Self::of(Session::new().with_run_start(run_start_s.saturating_mul(1_000_000_000)))
    }

    fn of(session: Session) -> Self {
        let session = session.with_model_reader(read_model);
        Self { session, next_job: 1, bar: ProgressBar::new(), noted: BTreeSet::new() }
    }

    /// A line on stderr, above the progress where it is shown.
    pub fn say(&mut self, line: &str) {
        self.bar.say(line);
    }

    /// Models that were loaded into the session.
    pub fn models(&self) -> &ModelLibrary {
        self.session.models()
    }

    /// Forgets a profile.
    pub fn close(&mut self, profile: ProfileKey) {
        self.session.handle(Control::Close(profile).into(), None);
    }

    /// Sends a request and works until it ends. Returns the message that ends the request; `None` when Ctrl-C ended it early.
    ///
    /// # Errors
    /// With the session's message, when the request failed.
    pub fn run(&mut self, ask: impl Into<Ask>, source: Option<Box<dyn ByteSource>>) -> Result<Option<Message>> {
        let mut last = None;
        self.run_with(ask, source, &mut |message| last = Some(message).filter(Message::is_last))?;
        Ok(last)
    }

    /// As [`Self::run`]; passes on each message except progress as it comes. A note is printed once, however many requests give it.
    /// Ctrl-C, where it is handled, ends the request early.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(
        &mut self,
        ask: impl Into<Ask>,
        source: Option<Box<dyn ByteSource>>,
        on_message: &mut dyn FnMut(Message),
    ) -> Result<()> {
        let job = JobId(self.next_job);
        self.next_job += 1;
        self.session.handle(Request::new(job, ask), source);
        let (bar, noted, mut failed) = (&mut self.bar, &mut self.noted, None);
        loop {
            let state = self.session.step(BUDGET_EVENTS, &mut |event| {
                let Event::Message(_, message) = event else { return };
                match message {
                    Message::Progress { done, total, label } => bar.show(done, total, &label),
                    Message::Note(message) => {
                        if noted.insert(message.clone()) {
                            bar.note(&message);
                        }
                    }
                    Message::Failed(message) => failed = Some(message),
                    other => on_message(other),
                }
            });
            if state == StepResult::Idle || interrupt::is_stop_requested() {
                break;
            }
        }
        self.bar.clear();
        failed.map_or(Ok(()), |message| Err(anyhow!("{message}")))
    }
}
