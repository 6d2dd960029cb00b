//! Benchmarks: their configurations go to workers with the stage times that are known, and are kept as they finish.

use std::rc::Rc;

use yew::Callback;

use super::keeper::{Keeper, KeptSweep, rows_of};
use super::runner::{Runnable, Runner, RunnerStep, SweepRunner};
use crate::shelf;
use crate::state::PageState;
use crate::worker::{Engine, Program};
use ns_bench::{BenchConfig, Benchmarks, RunDetail, SweepPlan, SweepState};
use ns_page::RunState;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::notices::{NoticeAction, Tone};
use ns_page::sweep::{CpuRow, Dispatch, HandOut, Step};
use ns_session::results::{KeptHead, keep_row, restore_sweep};
use ns_session::share::PageLink as _;
use ns_session::shelf::ItemKind;
use ns_session::{JobId, JobRequest, RunRequest};

/// Sweeps with more rows are kept without their charts: browsers keep about five million characters.
const MOST_WITH_CHARTS: usize = 500;

/// The list of a benchmark that is not run.
#[derive(Default)]
pub struct Listing {
    pub(super) preview: Option<Rc<SweepState>>,
    /// The request for it.
    pub(super) asked: Option<(Engine, JobId)>,
}

impl Runnable for Benchmarks {
    type State = BenchState;
    type Extra = Listing;

    const HEAD: &'static str = "head";
    const PROGRAM: Program = Program::Benchmarks;

    fn step(runner: &SweepRunner, most_lanes: usize) -> RunnerStep {
        let step = runner.0.core.borrow_mut().run.next(most_lanes);
        match step {
            Step::Run(out) => runner.hand_out(&out),
            Step::Measure(measurement) => runner.measure(&measurement),
            Step::Start { is_only } => return RunnerStep::Start { is_only },
            Step::End(state) => return RunnerStep::End(state),
            Step::Rest => return RunnerStep::Rest,
        }
        RunnerStep::GoOn
    }

    fn row_text(sweep: &SweepState, row: u32) -> Option<String> {
        keep_row(sweep, row, sweep.rows().len() > MOST_WITH_CHARTS)
    }

    /// Links do not hold a model index, so its benchmark has no link to be kept by.
    fn put_on_shelf(sweep: &SweepState, id: &str) {
        let head = KeptHead::of(sweep);
        if head.config.index.is_none() {
            shelf::keep_rows(ItemKind::Benchmark, &head.title(), &head.config.hash(), id);
        }
    }

    fn results(run: &mut Dispatch<Engine, Self>) -> Option<<BenchState as PageState>::Action> {
        run.news()
    }

    fn take_measured(runner: &SweepRunner, cpu: CpuRow) {
        runner.take_measured(cpu);
    }

    fn show_more(runner: &SweepRunner) {
        runner.show_preview();
    }
}

impl Runner<Benchmarks> {
    /// Runs a benchmark from its beginning.
    pub fn run(&self, config: BenchConfig) {
        self.stop_listing();
        let listed = self.0.core.borrow_mut().extra.preview.take().filter(|p| p.config == config);
        if let Some(sweep) = listed {
            self.begin(sweep);
            return;
        }
        let asked = config.clone();
        self.plan(&config, move |runner, plan| match plan {
            Ok(plan) => runner.begin(Rc::new(SweepState::of(asked.clone(), plan))),
            Err(message) => runner.0.dispatch.dispatch(BenchAction::End(RunState::Failed(message))),
        });
    }

    fn begin(&self, sweep: Rc<SweepState>) {
        self.keep(&sweep);
        let (config, notes) = (sweep.config.clone(), sweep.messages.clone());
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(config), notes));
        self.start(sweep);
    }

    fn hand_out(&self, out: &HandOut<Engine>) {
        let (runner, at, row, configuration) = (self.clone(), out.worker.clone(), out.row, out.configuration.clone());
        let on_message = Callback::from(move |message| {
            let heard = runner.0.core.borrow_mut().run.hear(&at, row, &configuration, message);
            runner.act(row, heard);
        });
        let (asked, times) = (out.configuration.clone(), out.times.clone());
        let request = match out.scenario.clone() {
            Some(settings) => JobRequest::Mlperf { settings: Box::new(settings), configuration: Box::new(asked) },
            None => {
                let detail = RunDetail { charts: true, ..RunDetail::default() };
                JobRequest::RunConfiguration(Box::new(RunRequest { row, configuration: asked, times, detail }))
            }
        };
        let job = out.worker.send(request, None, on_message);
        // A worker that is dead has answered already.
        if out.worker.is_alive() {
            self.0.core.borrow_mut().run.note_request(out, job);
        }
    }

    /// Shows a sweep of an earlier visit, and runs the rest of it if wanted.
    pub fn take_up(&self, kept: &KeptSweep, runs_rest: bool) {
        let again = kept.clone();
        self.plan(&kept.head.config, move |runner, plan| match plan {
            Ok(plan) => runner.go_on(&again, plan, runs_rest),
            Err(message) => runner.0.dispatch.dispatch(BenchAction::End(RunState::Failed(message))),
        });
    }

    fn go_on(&self, kept: &KeptSweep, plan: SweepPlan, runs_rest: bool) {
        let restored = restore_sweep(&kept.head, plan, &rows_of(&kept.id));
        let mut sweep = restored.sweep;
        if !runs_rest {
            sweep.cancel();
        }
        let notes = sweep.messages.clone();
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(sweep.config.clone()), notes));
        self.0.dispatch.dispatch(BenchAction::Imported(restored.others));
        {
            let mut core = self.0.core.borrow_mut();
            core.run.recall(&sweep);
            core.keeper = Some(Keeper::adopt(kept));
        }
        if restored.unreadable > 0 {
            let text = format!("{} kept rows could not be read and are run again.", restored.unreadable);
            self.0.notices.dispatch(NoticeAction::Say(Tone::Info, text));
        }
        self.start(Rc::new(sweep));
    }
}
