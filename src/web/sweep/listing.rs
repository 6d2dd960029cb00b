//! The configurations of a sweep and their estimates, before it runs.
//!
//! A worker lists them: the models and their estimates stay out of the page's own program.

use std::rc::Rc;

use yew::Callback;

use super::runner::{Core, Runner};
use crate::worker::Program;
use ns_bench::{BenchConfig, Benchmarks, Estimate, ServiceTimes, SweepPlan, SweepState};
use ns_page::bench::BenchAction;
use ns_session::{JobRequest, Message, ResultPart};

impl Core<Benchmarks> {
    /// Takes the estimate of a configuration that is listed, and its stage times for the run.
    fn learn(&mut self, row: u32, estimate: Result<Estimate, String>, times: Option<Box<ServiceTimes>>) {
        let Some(sweep) = &mut self.extra.preview else { return };
        let key = sweep.rows().get(row as usize).map(|r| r.planned.configuration.times_key());
        Rc::make_mut(sweep).learn(row, estimate);
        if let (Some(key), Some(times)) = (key, times) {
            self.run.learn(key, *times);
        }
    }
}

impl Runner<Benchmarks> {
    /// Lists the configurations of a benchmark, then the estimate of each, as workers find out.
    pub fn list(&self, config: &BenchConfig) {
        self.stop_listing();
        if self.0.core.borrow().run.is_running() {
            return;
        }
        self.0.core.borrow_mut().extra.preview = None;
        let engine = match self.0.pool.shared(Program::Benchmarks) {
            Ok(engine) => engine,
            Err(message) => {
                self.0.dispatch.dispatch(BenchAction::Listed(Err(message)));
                return;
            }
        };
        let (runner, asked) = (self.clone(), config.clone());
        let on_message = Callback::from(move |message| runner.on_listing(&asked, message));
        let config = Box::new(config.clone());
        let job = engine.send(JobRequest::PlanBench(config), None, on_message);
        if engine.is_alive() {
            self.0.core.borrow_mut().extra.asked = Some((engine, job));
        }
    }

    fn on_listing(&self, config: &BenchConfig, message: Message) {
        let is_listed = self.0.core.borrow().extra.preview.is_some();
        match (message, is_listed) {
            (Message::Part(ResultPart::Plan(plan)), _) => {
                let sweep = Rc::new(SweepState::of(config.clone(), *plan));
                self.0.core.borrow_mut().extra.preview = Some(sweep);
                self.show_preview();
            }
            (Message::Part(ResultPart::Estimated { row, estimate, times }), true) => {
                self.0.core.borrow_mut().learn(row, estimate, times);
                self.show_later();
            }
            (Message::Failed(message), false) => {
                self.0.core.borrow_mut().extra.asked = None;
                self.0.dispatch.dispatch(BenchAction::Listed(Err(message)));
            }
            (Message::Done(_) | Message::Answer(_) | Message::File(_) | Message::Failed(_) | Message::Cancelled, _) => {
                self.0.core.borrow_mut().extra.asked = None;
                self.show_preview();
            }
            // The list itself shows the progress well enough.
            (Message::Progress { .. } | Message::Note(_) | Message::Paused | Message::Part(_), _) => {}
        }
    }

    /// Shows the list, if there is one.
    pub(super) fn show_preview(&self) {
        let preview = self.0.core.borrow().extra.preview.clone();
        if let Some(sweep) = preview {
            let view = self.0.core.borrow().run.look(&sweep);
            self.0.dispatch.dispatch(BenchAction::Listed(Ok(view)));
        }
    }

    pub(super) fn stop_listing(&self) {
        let listing = self.0.core.borrow_mut().extra.asked.take();
        if let Some((engine, job)) = listing {
            engine.give_up(job);
        }
    }

    /// Asks a worker for the plan of a benchmark that is about to run, and meanwhile shows that it starts.
    pub(super) fn plan(&self, config: &BenchConfig, then: impl Fn(&Self, Result<SweepPlan, String>) + 'static) {
        self.stop_listing();
        self.stop_planning();
        self.0.dispatch.dispatch(BenchAction::Plan(Box::new(config.clone())));
        let engine = match self.0.pool.shared(Program::Benchmarks) {
            Ok(engine) => engine,
            Err(message) => return then(self, Err(message)),
        };
        let runner = self.clone();
        let on_message = Callback::from(move |message| {
            let plan = match message {
                Message::Part(ResultPart::Plan(plan)) => Ok(*plan),
                Message::Failed(message) => Err(message),
                // Answers after the plan are not awaited.
                Message::Progress { .. } | Message::Note(_) | Message::Paused | Message::Part(_) => return,
                Message::Done(_) | Message::Answer(_) | Message::File(_) | Message::Cancelled => return,
            };
            // The estimates of its models appear as the configurations run.
            runner.stop_planning();
            then(&runner, plan);
        });
        let config = Box::new(config.clone());
        let job = engine.send(JobRequest::PlanBench(config), None, on_message);
        if engine.is_alive() {
            self.0.core.borrow_mut().planning = Some((engine, job));
        }
    }
}
