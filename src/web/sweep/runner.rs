//! Hands configurations to workers and brings their rows back.

use crate::state::StateDispatcher;
use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Interval;
use yew::Callback;

use super::keeper::{BEAT_MS, Keeper, KeptSweep};
use crate::platform::machine::{hardware_threads, wall_ms};
use crate::worker::{Engine, Pool};
use ns_bench::{BenchConfig, RowResult, RunDetail, SweepPlan, SweepState};
use ns_page::RunState;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::replies::unexpected;
use ns_page::sweep::{Dispatch, HandOut, Heard, Step, Worker};
use ns_session::{Control, JobId, JobRequest, RunRequest};

/// The most workers: more would cost memory and start-up time for little gain.
const MOST_LANES: usize = 8;

impl Worker for Engine {
    fn is_alive(&self) -> bool {
        Self::is_alive(self)
    }
}

/// Runs sweeps. Clones share one runner.
#[derive(Clone)]
pub struct SweepRunner(pub(super) Rc<RunnerInner>);

pub(super) struct RunnerInner {
    pub(super) pool: Pool,
    pub(super) dispatch: StateDispatcher<BenchState>,
    pub(super) notices: StateDispatcher<Notices>,
    pub(super) core: RefCell<Core>,
    /// Listener for the closing of the page.
    pub(super) leaving: RefCell<Option<EventListener>>,
}

#[derive(Default)]
pub(super) struct Core {
    /// A sweep that is listed but not run.
    pub(super) preview: Option<Rc<SweepState>>,
    pub(super) listing: Option<(Engine, JobId)>,
    /// The plan of a sweep that is about to run.
    pub(super) planning: Option<(Engine, JobId)>,
    /// The sweep that runs, or ran last.
    pub(super) run: Dispatch<Engine>,
    pub(super) keeper: Option<Keeper>,
    pub(super) beat: Option<Interval>,
    pub(super) is_show_due: bool,
}

impl PartialEq for SweepRunner {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl SweepRunner {
    /// A runner over these workers, which reports everything to the page's state.
    #[must_use]
    pub fn new(pool: Pool, dispatch: StateDispatcher<BenchState>, notices: StateDispatcher<Notices>) -> Self {
        let runner = Self(Rc::new(RunnerInner {
            pool,
            dispatch,
            notices,
            core: RefCell::default(),
            leaving: RefCell::default(),
        }));
        let weak = Rc::downgrade(&runner.0);
        let on_leave = move |_: &web_sys::Event| {
            if let Some(inner) = weak.upgrade()
                && let Some(keeper) = &inner.core.borrow().keeper
            {
                keeper.leave();
            }
        };
        *runner.0.leaving.borrow_mut() = web_sys::window().map(|w| EventListener::new(&w, "pagehide", on_leave));
        runner
    }

    /// Runs a benchmark from its beginning.
    pub fn run(&self, config: BenchConfig) {
        self.stop_listing();
        let listed = self.0.core.borrow_mut().preview.take().filter(|p| p.config == config);
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
        {
            let mut core = self.0.core.borrow_mut();
            // Finished results stay on the shelf.
            let has_ended = core.run.has_ended();
            if let Some(keeper) = core.keeper.take().filter(|_| !has_ended) {
                keeper.forget();
            }
        }
        let keeper = Keeper::begin(&sweep);
        self.0.core.borrow_mut().keeper = Some(keeper);
        let (config, notes) = (sweep.config.clone(), sweep.messages.clone());
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(config), notes));
        self.start(sweep);
    }

    pub(super) fn start(&self, sweep: Rc<SweepState>) {
        {
            let mut core = self.0.core.borrow_mut();
            core.run.start(sweep, wall_ms());
            let weak = Rc::downgrade(&self.0);
            core.beat = Some(Interval::new(BEAT_MS, move || {
                if let Some(inner) = weak.upgrade()
                    && let Some(keeper) = &inner.core.borrow().keeper
                {
                    keeper.beat();
                }
            }));
        }
        self.show();
        self.feed();
    }

    /// Carries out the next steps until none is left.
    pub(super) fn feed(&self) {
        let most_lanes = hardware_threads().min(MOST_LANES);
        loop {
            let mut step = self.0.core.borrow_mut().run.next(most_lanes);
            if let Step::Start { is_only } = step {
                match self.worker(is_only) {
                    Ok(engine) => {
                        self.0.core.borrow_mut().run.add(engine);
                        continue;
                    }
                    Err(message) => step = self.0.core.borrow_mut().run.refuse(message),
                }
            }
            match step {
                Step::Run(out) => self.hand_out(&out),
                Step::Measure(measurement) => self.measure(&measurement),
                Step::End(state) => return self.end(state),
                Step::Rest | Step::Start { .. } => return,
            }
        }
    }

    /// A worker: the one that all benchmarks share, or a new one.
    pub(super) fn worker(&self, is_only: bool) -> Result<Engine, String> {
        if is_only { self.0.pool.bench() } else { self.0.pool.take() }
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
            self.0.core.borrow_mut().run.sent(out, job);
        }
    }

    /// Does what a worker's message requires, and shows the result a moment later.
    pub(super) fn act(&self, row: u32, heard: Heard) {
        match heard {
            Heard::Taken => {}
            Heard::GoOn => self.feed(),
            Heard::Note(message) => self.0.dispatch.dispatch(BenchAction::Note(message)),
            Heard::Row(result) => self.take(row, *result),
            Heard::Measured(cpu) => self.take_measured(*cpu),
            Heard::Unexpected(kind) => self.0.notices.dispatch(NoticeAction::Say(Tone::Bad, unexpected(kind))),
        }
        self.show_later();
    }

    /// Removes a note from the list, also for later visits.
    pub fn dismiss(&self, message: &str) {
        self.0.core.borrow_mut().run.dismiss(message);
        self.0.dispatch.dispatch(BenchAction::Dismiss(message.to_owned()));
    }

    pub(super) fn take(&self, row: u32, result: RowResult) {
        let mut is_refused = false;
        {
            let mut core = self.0.core.borrow_mut();
            core.run.finish(row, result);
            let Some(sweep) = core.run.sweep() else { return };
            if let Some(keeper) = &core.keeper {
                is_refused = !keeper.row(sweep, row);
            }
        }
        if is_refused {
            let text =
                "The browser cannot keep more rows for a later visit. Download the results before you close this tab.";
            self.0.notices.dispatch(NoticeAction::Say(Tone::Info, text.to_owned()));
        }
        self.feed();
    }

    pub(super) fn end(&self, state: RunState) {
        {
            let mut core = self.0.core.borrow_mut();
            core.run.end();
            core.beat = None;
            if let (Some(keeper), Some(sweep)) = (&core.keeper, core.run.sweep()) {
                keeper.update(sweep);
                keeper.leave();
                if state == RunState::Done {
                    keeper.put_on_shelf(sweep);
                }
            }
        }
        self.show();
        self.0.dispatch.dispatch(BenchAction::End(state));
    }

    /// Pauses everything, also the configurations that run.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Continues after a pause.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    fn set_paused(&self, is_paused: bool) {
        if self.0.core.borrow().planning.is_some() {
            return;
        }
        if self.0.core.borrow().run.sweep().is_none() {
            return;
        }
        let requests = self.0.core.borrow_mut().run.set_paused(is_paused);
        for (engine, job) in requests {
            engine.tell(if is_paused { Control::Pause(job) } else { Control::Resume(job) });
        }
        self.show();
        self.feed();
    }

    /// Stops the waiting and the running rows; finished rows stay.
    pub fn cancel(&self) {
        if self.stop_planning() {
            self.0.dispatch.dispatch(BenchAction::End(RunState::Cancelled));
            return;
        }
        let requests = self.0.core.borrow_mut().run.cancel();
        for (engine, job) in requests {
            engine.cancel(job);
        }
        self.feed();
    }

    /// Runs the failed and cancelled configurations again; finished rows stay.
    pub fn retry_failed(&self) {
        let sweep = self.0.core.borrow_mut().run.retry_failed();
        if let Some(sweep) = sweep {
            self.0.dispatch.dispatch(BenchAction::GoOn);
            self.start(sweep);
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
        let restored = kept.restore(plan);
        let mut sweep = restored.sweep;
        if !runs_rest {
            sweep.cancel();
        }
        let notes = sweep.messages.clone();
        self.0.dispatch.dispatch(BenchAction::Index(None));
        self.0.dispatch.dispatch(BenchAction::Load(Box::new(sweep.config.clone())));
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
