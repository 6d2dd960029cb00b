//! An MLPerf scenario on the page: the configurations of a benchmark one after another, in one worker.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use yew::{Callback, UseReducerDispatcher};

use crate::bench::mlperf::MlperfSettings;
use crate::bench::{BenchConfig, Configuration, expand};
use crate::session::{Event, JobId, Request};
use crate::web::state::RunState;
use crate::web::state::bench::{BenchAction, BenchState, ScenarioRow};
use crate::web::worker::{Engine, Pool};

/// Runs scenarios. Clones are the same runner.
#[derive(Clone)]
pub struct ScenarioRunner(Rc<Inner>);

struct Inner {
    pool: Pool,
    dispatch: UseReducerDispatcher<BenchState>,
    core: RefCell<Core>,
}

#[derive(Default)]
struct Core {
    settings: MlperfSettings,
    waiting: VecDeque<Configuration>,
    total: u64,
    running: Option<(Engine, JobId)>,
}

impl PartialEq for ScenarioRunner {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl ScenarioRunner {
    /// A runner over these workers, which tells the page's state of everything.
    #[must_use]
    pub fn new(pool: Pool, dispatch: UseReducerDispatcher<BenchState>) -> Self {
        Self(Rc::new(Inner { pool, dispatch, core: RefCell::default() }))
    }

    /// Runs a scenario on each configuration of a benchmark.
    pub fn run(&self, config: &BenchConfig, settings: MlperfSettings) {
        let sweep = match expand(config) {
            Ok(sweep) => sweep,
            Err(error) => {
                self.end(RunState::Failed(error.to_string()));
                return;
            }
        };
        {
            let mut core = self.0.core.borrow_mut();
            core.settings = settings;
            core.total = sweep.configurations.len() as u64;
            core.waiting = sweep.configurations.into();
        }
        self.0.dispatch.dispatch(BenchAction::StartScenario);
        self.next();
    }

    fn next(&self) {
        let (next, settings, total) = {
            let mut core = self.0.core.borrow_mut();
            core.running = None;
            (core.waiting.pop_front(), core.settings.clone(), core.total)
        };
        let Some(configuration) = next else {
            self.end(RunState::Done);
            return;
        };
        let engine = match self.0.pool.bench() {
            Ok(engine) => engine,
            Err(message) => {
                self.end(RunState::Failed(message));
                return;
            }
        };
        let before = total - 1 - self.0.core.borrow().waiting.len() as u64;
        let (runner, label) = (self.clone(), configuration.label());
        let on_event = Callback::from(move |event: Event| runner.on_event(event, &label, before, total));
        let (settings, configuration) = (Box::new(settings), Box::new(configuration));
        let job = engine.send(|job| Request::Mlperf { job, settings, configuration }, None, on_event);
        if engine.is_alive() {
            self.0.core.borrow_mut().running = Some((engine, job));
        }
    }

    fn on_event(&self, event: Event, label: &str, before: u64, total: u64) {
        let row = |result| ScenarioRow { label: label.to_owned(), result };
        match event {
            Event::Progress { done, total: of, label, .. } => {
                let done = before * 1_000 + done * 1_000 / of.max(1);
                let run = RunState::Running { done, total: total * 1_000, label };
                self.0.dispatch.dispatch(BenchAction::Progress(run));
            }
            Event::Mlperf { result, .. } => {
                self.0.dispatch.dispatch(BenchAction::Scenario(Box::new(row(Ok(*result)))));
                self.next();
            }
            Event::Failed { message, .. } => {
                self.0.dispatch.dispatch(BenchAction::Scenario(Box::new(row(Err(message)))));
                self.next();
            }
            Event::Cancelled { .. } => {
                self.0.core.borrow_mut().running = None;
                self.end(RunState::Cancelled);
            }
            _ => {}
        }
    }

    /// Gives up what waits and what runs, if anything does; results that are there stay.
    pub fn cancel(&self) {
        let running = {
            let mut core = self.0.core.borrow_mut();
            core.waiting.clear();
            core.running.clone()
        };
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Whether one runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.0.core.borrow().running.is_some()
    }

    fn end(&self, state: RunState) {
        self.0.dispatch.dispatch(BenchAction::End(state));
    }
}
