//! Actions of the buttons on the page of values.

use crate::state::StateHandle;
use yew::prelude::*;

use crate::context::AppContext;
use crate::context::Job;
use crate::platform::{download, page};
use crate::shelf;
use ns_page::RunState;
use ns_page::notices::{NoticeAction, Tone};
use ns_page::numerics::{NumericsAction, NumericsState};
use ns_session::{JobRequest, JobResult, NumericsSpec, Told, without_source};

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<NumericsState>,
    /// The run that can be cancelled.
    pub job: Job,
}

impl Actions {
    /// Compares the model in the form, unless a field is wrong.
    pub fn run(&self) {
        let (spec, wrong) = self.state.spec();
        if let Some((field, message)) = wrong.first() {
            self.say(Tone::Bad, message.clone());
            page::focus(&format!("numerics-{}", field.key()));
            return;
        }
        self.start(spec);
    }

    /// Puts a comparison into the form and runs it.
    pub fn run_spec(&self, spec: NumericsSpec) {
        self.state.dispatch(NumericsAction::Load(Box::new(spec.clone())));
        self.start(spec);
    }

    fn start(&self, spec: NumericsSpec) {
        if self.job.0.borrow().is_some() {
            return;
        }
        // A separate worker: weights may take most of a gigabyte, which is freed when the worker ends.
        let engine = match self.app.pool.take() {
            Ok(engine) => engine,
            Err(message) => {
                self.state.dispatch(NumericsAction::Run(RunState::Failed(message)));
                return;
            }
        };
        self.state
            .dispatch(NumericsAction::Run(RunState::started(&format!("Compiling {}", without_source(&spec.model)))));
        let (dispatch, free, actions, asked) =
            (self.state.dispatcher(), self.job.0.clone(), self.clone(), spec.clone());
        let on_told = Callback::from(move |told: Told| {
            if told.is_last() {
                free.borrow_mut().take();
            }
            match told {
                Told::Done(JobResult::Numerics(report)) => {
                    if let Err(message) = shelf::keep_numerics(asked.clone(), (*report).clone()) {
                        actions.say(Tone::Info, message);
                    }
                    dispatch.dispatch(NumericsAction::Report(report));
                }
                other => RunState::told(other).into_iter().for_each(|run| dispatch.dispatch(NumericsAction::Run(run))),
            }
        });
        let spec = Box::new(spec);
        let job = engine.send(JobRequest::Numerics(spec), None, on_told);
        if engine.is_alive() {
            *self.job.0.borrow_mut() = Some((engine, job));
        }
    }

    /// Stops the run.
    pub fn cancel(&self) {
        self.job.cancel();
    }

    /// Saves the comparison as `neuronscope numerics --json` prints it.
    pub fn download_json(&self) {
        let Some(report) = &self.state.report else { return };
        let text = report.to_json().map_err(|e| e.to_string());
        let saved = text.and_then(|text| download::save("numerics.json", "application/json", text.as_bytes()));
        if let Err(message) = saved {
            self.say(Tone::Bad, message);
        }
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}
