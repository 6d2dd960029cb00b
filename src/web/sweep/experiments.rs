//! Runs of experiments: each experiment goes to a worker, and is kept as it ends.

use std::rc::Rc;

use yew::Callback;

use super::keeper::{Keeper, KeptOf, rows_of};
use super::runner::{Runnable, Runner, RunnerStep};
use crate::platform::machine::{self, wall_ms};
use crate::shelf;
use crate::worker::{Engine, Program};
use ns_bench::SweepOf;
use ns_experiment::sweep::{Experiments, ExperimentsPlan, ExperimentsRequest, ExperimentsRun};
use ns_page::RunState;
use ns_page::experiments::{PlanAction, PlanState};
use ns_page::notices::{NoticeAction, Tone};
use ns_page::replies::outcome_of;
use ns_page::sweep::{Dispatch, ExperimentStep, SweepNews};
use ns_session::results::{KeptRun, keep_experiment, restore_run};
use ns_session::share::{ExperimentLink, PageLink as _};
use ns_session::shelf::ItemKind;
use ns_session::{ExperimentJobRequest, JobId, JobRequest, JobResult, Message};

/// Runs experiments.
pub type ExperimentRunner = Runner<Experiments>;
/// A run of an earlier visit.
pub type KeptExperiments = KeptOf<Experiments>;

/// The request for the list of the form's experiments.
#[derive(Default)]
pub struct PlanListing {
    asked: Option<(Engine, JobId)>,
}

impl Runnable for Experiments {
    type State = PlanState;
    type Extra = PlanListing;

    const HEAD: &'static str = "experiments";
    const PROGRAM: Program = Program::Studies;

    fn step(runner: &ExperimentRunner, most_lanes: usize) -> RunnerStep {
        let step = runner.0.core.borrow_mut().run.next(most_lanes);
        match step {
            ExperimentStep::Run(worker, request) => runner.hand_out(&worker, *request),
            ExperimentStep::Start { is_only } => return RunnerStep::Start { is_only },
            ExperimentStep::End(state) => return RunnerStep::End(state),
            ExperimentStep::Rest => return RunnerStep::Rest,
        }
        RunnerStep::GoOn
    }

    fn row_text(sweep: &SweepOf<Self>, row: u32) -> Option<String> {
        keep_experiment(sweep, row)
    }

    fn put_on_shelf(sweep: &SweepOf<Self>, id: &str) {
        let link = ExperimentLink { plan: Some(Box::new(sweep.config.request.clone())), ..ExperimentLink::default() };
        shelf::keep_rows(ItemKind::Experiments, &KeptRun::of(sweep).title(), &link.hash(), id);
    }

    fn results(run: &mut Dispatch<Engine, Self>) -> Option<PlanAction> {
        run.has_news().then(|| PlanAction::Lines(run.lines()))
    }
}

impl Runner<Experiments> {
    /// Lists the experiments of a form.
    pub fn list(&self, request: &ExperimentsRequest) {
        self.stop_listing();
        let engine = match self.0.pool.shared(Program::Studies) {
            Ok(engine) => engine,
            Err(message) => return self.0.dispatch.dispatch(PlanAction::Listed(Err(message))),
        };
        let runner = self.clone();
        let on_message = Callback::from(move |message: Message| {
            if let Some(listed) = outcome_of(message, plan_of) {
                runner.0.core.borrow_mut().extra.asked = None;
                runner.0.dispatch.dispatch(PlanAction::Listed(listed));
            }
        });
        let job = engine.send(JobRequest::PlanExperiments(Box::new(request.clone())), None, on_message);
        if engine.is_alive() {
            self.0.core.borrow_mut().extra.asked = Some((engine, job));
        }
    }

    fn stop_listing(&self) {
        let asked = self.0.core.borrow_mut().extra.asked.take();
        if let Some((engine, job)) = asked {
            engine.give_up(job);
        }
    }

    /// Runs the experiments of a request from the beginning.
    pub fn run(&self, request: ExperimentsRequest) {
        let timestamp = request.timestamp.unwrap_or_else(|| wall_ms() / 1e3);
        let run = ExperimentsRun { request, timestamp, processor: machine::name() };
        self.plan(&run.request.clone(), move |runner, plan| {
            let sweep = SweepOf::of_rows(run.clone(), plan.rows, plan.messages);
            runner.keep(&sweep);
            runner.0.dispatch.dispatch(PlanAction::Start(sweep.messages.clone()));
            runner.start(Rc::new(sweep));
        });
    }

    /// Asks a worker for the experiments of a request that is about to run, and meanwhile shows that it starts.
    fn plan(&self, request: &ExperimentsRequest, then: impl Fn(&Self, ExperimentsPlan) + 'static) {
        self.stop_planning();
        self.tell(SweepNews::GoOn);
        let engine = match self.0.pool.shared(Program::Studies) {
            Ok(engine) => engine,
            Err(message) => return self.tell(SweepNews::End(RunState::Failed(message))),
        };
        let runner = self.clone();
        let on_message = Callback::from(move |message: Message| {
            let Some(plan) = outcome_of(message, plan_of) else { return };
            runner.0.core.borrow_mut().planning = None;
            match plan.and_then(|plan| plan.problem.clone().map_or(Ok(plan), Err)) {
                Ok(plan) => then(&runner, *plan),
                Err(message) => runner.tell(SweepNews::End(RunState::Failed(message))),
            }
        });
        let job = engine.send(JobRequest::PlanExperiments(Box::new(request.clone())), None, on_message);
        if engine.is_alive() {
            self.0.core.borrow_mut().planning = Some((engine, job));
        }
    }

    fn hand_out(&self, worker: &Engine, request: ExperimentJobRequest) {
        let (runner, at, row, planned) = (self.clone(), worker.clone(), request.row, request.planned.clone());
        let on_message = Callback::from(move |message| {
            let heard = runner.0.core.borrow_mut().run.hear(&at, row, &planned, message);
            runner.act(row, heard);
        });
        let job = worker.send(JobRequest::RunExperiment(Box::new(request)), None, on_message);
        // A worker that is dead has answered already.
        if worker.is_alive() {
            self.0.core.borrow_mut().run.sent_row(worker, row, job);
        }
    }

    /// Shows a run of an earlier visit, and runs the rest of it if wanted.
    pub fn take_up(&self, kept: &KeptExperiments, runs_rest: bool) {
        let again = kept.clone();
        self.plan(&kept.head.config.request, move |runner, plan| {
            let (mut sweep, unusable) = restore_run(&again.head, plan, &rows_of(&again.id));
            if !runs_rest {
                sweep.cancel();
            }
            if unusable > 0 {
                let text = format!("{unusable} kept experiments could not be read and are run again.");
                runner.0.notices.dispatch(NoticeAction::Say(Tone::Info, text));
            }
            runner.0.dispatch.dispatch(PlanAction::Load(Box::new(sweep.config.request.clone())));
            runner.0.dispatch.dispatch(PlanAction::Start(sweep.messages.clone()));
            {
                let mut core = runner.0.core.borrow_mut();
                core.run.recall(&sweep);
                core.keeper = Some(Keeper::adopt(&again));
            }
            runner.start(Rc::new(sweep));
        });
    }
}

/// The plan, if a worker's result is one.
fn plan_of(result: JobResult) -> Option<Box<ExperimentsPlan>> {
    if let JobResult::ExperimentsPlan(plan) = result { Some(plan) } else { None }
}
