//! Drives a session to the end of one request.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};

use super::interrupt;
use super::progress::ProgressBar;
use super::remarks::{Remark, remarks_of, remarks_on};
use super::shell::Shell;
use ns_base::Diagnostic;
use ns_readers::read_model;
use ns_session::studies::{StudyResult, StudySpec};
use ns_session::{
    Ask, ByteSource, Control, Event, JobId, JobRequest, JobResult, Message, ModelLibrary, ProfileInfo, ProfileKey,
    Request, ResultPart, Session, StepResult,
};

/// Events simulated or read between two updates of the progress.
const BUDGET_EVENTS: u32 = 200_000;

/// A session, and what is open in it. A [`Shell`] of a host keeps it for the next call.
pub(super) struct OpenSession {
    session: Session,
    next_job: u32,
    /// Open profiles, each with the files or the run that it was made of.
    pub profiles: Vec<(String, ProfileInfo)>,
}

impl OpenSession {
    fn of(session: Session) -> Self {
        Self { session: session.with_model_reader(read_model), next_job: 1, profiles: Vec::new() }
    }
}

/// A session and the terminal it reports to.
pub(super) struct Driver<'a> {
    pub shell: &'a Shell,
    /// Absent only while the driver ends.
    open: Option<OpenSession>,
    /// Whether the host keeps the session for its next call.
    is_kept: bool,
    models: ModelLibrary,
    bar: ProgressBar<'a>,
    /// Notes that were printed: the configurations of a sweep give the same notes.
    noted: BTreeSet<String>,
    /// What the readers noticed in the profiles that the command is about.
    remarks: Vec<Remark>,
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        let open = self.open.take();
        open.into_iter().filter(|_| self.is_kept).for_each(|open| self.shell.keep_session(open));
    }
}

impl<'a> Driver<'a> {
    /// The session that the host keeps, or a new one.
    pub fn new(shell: &'a Shell) -> Self {
        Self::of(shell, shell.take_session().unwrap_or_else(|| OpenSession::of(Session::new())))
    }

    /// A session whose simulated executions begin at this moment, in seconds since 1970.
    pub fn starting_at(shell: &'a Shell, run_start_s: i64) -> Self {
        Self::of(shell, OpenSession::of(Session::new().with_run_start(run_start_s.saturating_mul(1_000_000_000))))
    }

    /// A session that no later call finds: what it reads is the call's alone.
    pub fn apart(shell: &'a Shell) -> Self {
        let mut driver = Self::of(shell, OpenSession::of(Session::new()));
        driver.is_kept = false;
        driver
    }

    fn of(shell: &'a Shell, open: OpenSession) -> Self {
        let models = open.session.models().clone();
        Self {
            shell,
            open: Some(open),
            is_kept: true,
            models,
            bar: ProgressBar::new(shell),
            noted: BTreeSet::new(),
            remarks: Vec::new(),
        }
    }

    fn open(&mut self) -> &mut OpenSession {
        self.open.get_or_insert_with(|| OpenSession::of(Session::new()))
    }

    /// The profile that was made of the same things before, or else the one that `make` makes now. Fails with those of `make`.
    pub fn once(&mut self, of: String, make: impl FnOnce(&mut Self) -> Result<ProfileInfo>) -> Result<ProfileInfo> {
        if let Some((_, info)) = self.open().profiles.iter().find(|(known, _)| *known == of) {
            return Ok(info.clone());
        }
        let info = make(self)?;
        self.open().profiles.push((of, info.clone()));
        Ok(info)
    }

    /// A line on stderr, above the progress where it is shown.
    pub fn say(&mut self, line: &str) {
        self.bar.say(line);
    }

    /// Keeps what a reader noticed in a profile for the answers, and says it.
    pub fn remark(&mut self, profile: &str, info: &ProfileInfo) {
        self.keep(remarks_on(profile, info));
    }

    /// The same for what the format of a file cannot hold of a profile.
    pub fn remark_left_out(&mut self, file: &str, left_out: &[Diagnostic]) {
        self.keep(remarks_of(file, left_out));
    }

    fn keep(&mut self, remarks: Vec<Remark>) {
        for remark in remarks {
            if self.noted.insert(remark.text.clone()) {
                self.bar.note(&remark.text);
                self.remarks.push(remark);
            }
        }
    }

    /// What was noticed in all profiles of the command.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Models that were loaded into the session.
    pub fn models(&self) -> &ModelLibrary {
        &self.models
    }

    /// Forgets a profile.
    pub fn close(&mut self, profile: ProfileKey) {
        let open = self.open();
        open.profiles.retain(|(_, info)| info.profile != profile);
        open.session.handle(Control::Close(profile).into(), None);
    }

    /// Sends a request and works until it ends. Returns the message that ends the request; `None` when Ctrl-C ended it early. Fails
    /// with the session's message, when the request failed.
    pub fn run(&mut self, ask: impl Into<Ask>, source: Option<Box<dyn ByteSource>>) -> Result<Option<Message>> {
        let mut last = None;
        self.run_with(ask, source, &mut |message| last = Some(message).filter(Message::is_last))?;
        Ok(last)
    }

    /// Runs a study; what there was of it when Ctrl-C ended it early. Fails as [`Self::run`].
    pub fn study(&mut self, spec: StudySpec) -> Result<StudyResult> {
        let mut last = StudyResult::default();
        let mut keep = |message| {
            if let Message::Part(ResultPart::Study(result)) | Message::Done(JobResult::Study(result)) = message {
                last = *result;
            }
        };
        self.run_with(JobRequest::Study(Box::new(spec), String::new()), None, &mut keep)?;
        Ok(last)
    }

    /// As [`Self::run`]; passes on each message except progress as it comes. A note is printed once, however many requests give it.
    /// Ctrl-C, where it is handled, ends the request early. Fails as [`Self::run`].
    pub fn run_with(
        &mut self,
        ask: impl Into<Ask>,
        source: Option<Box<dyn ByteSource>>,
        on_message: &mut dyn FnMut(Message),
    ) -> Result<()> {
        let (bar, noted, mut failed) = (&mut self.bar, &mut self.noted, None);
        let OpenSession { session, next_job, .. } = self.open.get_or_insert_with(|| OpenSession::of(Session::new()));
        let job = JobId(*next_job);
        *next_job += 1;
        session.handle(Request::new(job, ask), source);
        loop {
            let state = session.step(BUDGET_EVENTS, &mut |event| {
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
            if state == StepResult::Idle {
                break;
            }
            if interrupt::is_stop_requested() {
                session.handle(Control::Cancel(job).into(), None);
                session.step(1, &mut |_| {});
                break;
            }
        }
        self.bar.clear();
        failed.map_or(Ok(()), |message| Err(anyhow!("{message}")))
    }
}
