//! Actions of the buttons about a run.

use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::super::actions::{ExperimentsActions, SET};
use crate::platform::{download, page};
use crate::state::{ExperimentsAction, StateHandle};
use crate::sweep::ExperimentRunner;
use crate::worker::{Engine, Program};
use ns_page::experiments::{PlanAction, PlanState, RUN_FILE};
use ns_page::notices::{NoticeAction, Tone};
use ns_page::replies::outcome_of;
use ns_session::{JobRequest, JobResult, Message, RecordsSource};

/// The form, for the button that opens it.
pub const FORM: &str = "experiments-run";
/// Prefix of the ids of the form's fields.
pub const FIELD: &str = "experiments-";

/// The records of the run that the worker of the views has, and those that are on their way to it.
#[derive(Default)]
pub struct SentRecords {
    /// The records, and the worker that has them.
    has: Option<(Engine, Rc<str>)>,
    is_sending: bool,
}

/// Actions of the buttons about a run.
#[derive(Clone, PartialEq)]
pub struct RunActions {
    /// The records and their worker.
    pub page: ExperimentsActions,
    pub plan: StateHandle<PlanState>,
    pub runner: ExperimentRunner,
}

impl RunActions {
    /// Whether the workers are ready.
    pub fn app_is_ready(&self) -> bool {
        self.page.app.catalog.is_some()
    }

    /// Runs the experiments in the form, unless a field is wrong.
    pub fn run(&self) {
        let (request, wrong) = self.plan.request();
        if let Some((field, message)) = wrong.first() {
            self.say(message.clone());
            page::focus(&format!("{FIELD}{field}"));
            return;
        }
        self.make_room();
        self.runner.run(request);
    }

    /// Puts the sample away: it is an example, with which nobody compares their own records.
    pub fn make_room(&self) {
        let state = &self.page.state;
        if state.is_sample() || state.is_reading_sample {
            self.page.stop_reading();
            state.dispatch(ExperimentsAction::Replace);
        }
    }

    /// Puts all records away, also those of the run.
    pub fn put_away(&self) {
        if self.plan.run.is_running() {
            self.runner.cancel();
        }
        self.plan.dispatch(PlanAction::PutAway);
        self.page.put_away();
    }

    /// Pauses the run, or continues it.
    pub fn pause_or_resume(&self) {
        if self.plan.is_paused() { self.runner.resume() } else { self.runner.pause() }
    }

    /// Stops the run; its records stay.
    pub fn cancel(&self) {
        self.runner.cancel();
    }

    /// Runs the failed and cancelled experiments again.
    pub fn retry(&self) {
        self.runner.retry_failed();
    }

    /// Saves the records as the command line writes them.
    pub fn download(&self) {
        let saved = download::save("results.jsonl", "application/jsonl", self.plan.lines.as_bytes());
        if let Err(message) = saved {
            self.say(message);
        }
    }

    /// Opens the form and goes to its first field, or closes it.
    pub fn toggle_form(&self) {
        let opens = !self.plan.is_open;
        self.plan.dispatch(PlanAction::Open(opens));
        if opens {
            // The form is there after this event.
            gloo_timers::callback::Timeout::new(0, || page::focus(&format!("{FIELD}run_suite"))).forget();
        }
    }

    /// Gives the records of the run to the worker that makes the views, unless it has them. One request at a time: the next one brings all
    /// that came meanwhile.
    pub fn give_records(&self, sent: &Rc<RefCell<SentRecords>>) {
        let (state, lines) = (&self.page.state, &self.plan.lines);
        if lines.is_empty() || sent.borrow().is_sending {
            return;
        }
        let alive = state.engine.clone().filter(Engine::is_alive);
        let has = alive
            .as_ref()
            .is_some_and(|engine| sent.borrow().has.as_ref().is_some_and(|(at, has)| at == engine && has == lines));
        if has {
            return;
        }
        let engine = match alive.map_or_else(|| self.page.app.pool.take(Program::Studies), Ok) {
            Ok(engine) => engine,
            Err(message) => return self.say(message),
        };
        state.dispatch(ExperimentsAction::Hold(engine.clone()));
        *sent.borrow_mut() = SentRecords { has: None, is_sending: true };
        let (dispatch, sent, lines, at) = (state.dispatcher(), sent.clone(), lines.clone(), engine.clone());
        let notices = self.page.app.notices.clone();
        let from = RecordsSource::Lines { name: RUN_FILE.to_owned(), lines: lines.to_string() };
        let on_message = Callback::from(move |message: Message| {
            let take = |result| if let JobResult::Records(read) = result { Some(read) } else { None };
            let Some(outcome) = outcome_of(message, take) else { return };
            *sent.borrow_mut() = SentRecords { has: Some((at.clone(), lines.clone())), is_sending: false };
            match outcome {
                Ok(read) => dispatch.dispatch(ExperimentsAction::Read(read)),
                Err(message) => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
            }
        });
        engine.send(JobRequest::ReadRecords(SET, from), None, on_message);
    }

    fn say(&self, message: String) {
        self.page.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message));
    }
}
