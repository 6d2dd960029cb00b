//! What the buttons of the page of values do.

use yew::prelude::*;

use crate::session::{Event, NumericsSpec, Request, without_source};
use crate::web::app::Job;
use crate::web::context::AppContext;
use crate::web::platform::{clipboard, download, page, url};
use crate::web::state::RunState;
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::state::numerics::{NumericsAction, NumericsState};

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<NumericsState>,
    /// The run that can be cancelled.
    pub job: Job,
}

impl Actions {
    /// Compares what is in the form, unless a field is wrong.
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
        // A worker of its own: weights may take most of a gigabyte, which is given back with the worker.
        let engine = match self.app.pool.take() {
            Ok(engine) => engine,
            Err(message) => {
                self.state.dispatch(NumericsAction::Run(RunState::Failed(message)));
                return;
            }
        };
        self.state
            .dispatch(NumericsAction::Run(RunState::started(&format!("Compiling {}", without_source(&spec.model)))));
        let (dispatch, free) = (self.state.dispatcher(), self.job.0.clone());
        let on_event = Callback::from(move |event: Event| {
            if event.is_last() {
                free.borrow_mut().take();
            }
            match event {
                Event::Progress { done, total, label, .. } => {
                    dispatch.dispatch(NumericsAction::Run(RunState::Running { done, total, label }));
                }
                Event::Numerics { report, .. } => dispatch.dispatch(NumericsAction::Report(report)),
                Event::Cancelled { .. } => dispatch.dispatch(NumericsAction::Run(RunState::Cancelled)),
                Event::Failed { message, .. } => dispatch.dispatch(NumericsAction::Run(RunState::Failed(message))),
                _ => {}
            }
        });
        let spec = Box::new(spec);
        let job = engine.send(|job| Request::Numerics { job, spec }, None, on_event);
        if engine.is_alive() {
            *self.job.0.borrow_mut() = Some((engine, job));
        }
    }

    /// Stops the run.
    pub fn cancel(&self) {
        let running = self.job.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Copies the address of this comparison.
    pub fn copy_link(&self) {
        let address = url::address_with(&self.state.link().print());
        let (app, shown) = (self.app.clone(), address.clone());
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match result {
                Ok(()) => (Tone::Good, "The link is in the clipboard: it shows this comparison after Run.".to_owned()),
                Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). The link is: {shown}")),
            };
            app.notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    }

    /// Saves the comparison as `neuronscope numerics --json` prints it.
    pub fn download_json(&self) {
        let Some(report) = &self.state.report else { return };
        let saved =
            report.to_json().and_then(|text| download::save("numerics.json", "application/json", text.as_bytes()));
        if let Err(message) = saved {
            self.say(Tone::Bad, message);
        }
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}
