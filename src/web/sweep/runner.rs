//! Hands rows of sweeps to workers and brings their results back, whatever the kind of the sweep.

use crate::state::{PageState, StateDispatcher};
use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Interval;

use super::keeper::{BEAT_MS, Keeper};
use crate::platform::machine::{hardware_threads, wall_ms};
use crate::platform::page;
use crate::worker::{Engine, Pool, Program};
use ns_bench::{Benchmarks, SweepOf};
use ns_page::RunState;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::replies::unexpected;
use ns_page::sweep::{CpuRow, Dispatch, NextAction, SweepNews, Worker, WorkerSweep};
use ns_session::{Control, JobId};

/// The most workers: more would cost memory and start-up time for little gain.
const MOST_LANES: usize = 8;

impl Worker for Engine {
    fn is_alive(&self) -> bool {
        Self::is_alive(self)
    }
}

/// A kind of sweep that the page runs.
pub trait Runnable: WorkerSweep + 'static {
    type State: PageState<Action: From<SweepNews<Self>>>;
    /// What its runner has besides the sweep.
    type Extra: Default;

    /// The piece of the browser's store that holds the request of a kept sweep.
    const HEAD: &'static str;
    const PROGRAM: Program;

    /// Carries out one step.
    fn step(runner: &Runner<Self>, most_lanes: usize) -> RunnerStep;

    /// The text that keeps a row; `None` for a row without a result.
    fn row_text(sweep: &SweepOf<Self>, row: u32) -> Option<String>;

    /// Puts a sweep that has ended on the shelf; its pieces have this name.
    fn put_on_shelf(sweep: &SweepOf<Self>, id: &str);

    /// The action that brings new results to the page; `None` if there are none.
    fn results(run: &mut Dispatch<Engine, Self>) -> Option<<Self::State as PageState>::Action>;

    /// Takes a measurement whose copies have all ended.
    fn take_measured(_runner: &Runner<Self>, _cpu: CpuRow) {}

    /// Shows what is beside the sweep.
    fn show_more(_runner: &Runner<Self>) {}
}

/// What a runner does after a step.
pub enum RunnerStep {
    /// The next step.
    GoOn,
    /// Start a worker.
    Start {
        /// Whether it is the only worker: the one that all runs share.
        is_only: bool,
    },
    /// Wait for a message.
    Rest,
    /// The run is over.
    End(RunState),
}

/// Runs sweeps. Clones share one runner.
pub struct Runner<K: Runnable>(pub(super) Rc<RunnerInner<K>>);

/// Runs benchmarks.
pub type SweepRunner = Runner<Benchmarks>;

pub(super) struct RunnerInner<K: Runnable> {
    pub(super) pool: Pool,
    pub(super) dispatch: StateDispatcher<K::State>,
    pub(super) notices: StateDispatcher<Notices>,
    pub(super) core: RefCell<Core<K>>,
    /// Listener for the closing of the page.
    pub(super) leaving: RefCell<Option<EventListener>>,
}

pub(super) struct Core<K: Runnable> {
    pub(super) extra: K::Extra,
    /// The plan of a sweep that is about to run.
    pub(super) planning: Option<(Engine, JobId)>,
    /// The sweep that runs, or ran last.
    pub(super) run: Dispatch<Engine, K>,
    pub(super) keeper: Option<Keeper<K>>,
    pub(super) beat: Option<Interval>,
    pub(super) is_show_due: bool,
    /// How long the last update of the page took.
    pub(super) update_ms: f64,
}

impl<K: Runnable> Default for Core<K> {
    fn default() -> Self {
        Self {
            extra: K::Extra::default(),
            planning: None,
            run: Dispatch::default(),
            keeper: None,
            beat: None,
            is_show_due: false,
            update_ms: 0.0,
        }
    }
}

impl<K: Runnable> Clone for Runner<K> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<K: Runnable> PartialEq for Runner<K> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<K: Runnable> Runner<K> {
    /// A runner over these workers, which reports everything to the page's state.
    pub fn new(pool: Pool, dispatch: StateDispatcher<K::State>, notices: StateDispatcher<Notices>) -> Self {
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

    /// Tells the page.
    pub(super) fn tell(&self, news: SweepNews<K>) {
        self.0.dispatch.dispatch(news.into());
    }

    /// Begins to keep a sweep, in place of the one before it.
    pub(super) fn keep(&self, sweep: &SweepOf<K>) {
        {
            let mut core = self.0.core.borrow_mut();
            // Finished results stay on the shelf.
            let has_ended = core.run.has_ended();
            if let Some(keeper) = core.keeper.take().filter(|_| !has_ended) {
                keeper.forget();
            }
        }
        let keeper = Keeper::begin(sweep);
        self.0.core.borrow_mut().keeper = Some(keeper);
    }

    pub(super) fn start(&self, sweep: Rc<SweepOf<K>>) {
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
        if !page::is_behind_example() {
            self.show();
        }
        self.feed();
    }

    /// Carries out the next steps until none is left.
    pub(super) fn feed(&self) {
        // Nobody waits behind an example, and each worker compiles its program, which takes a processor from the drawing of the page.
        let most_lanes = if page::is_behind_example() { 1 } else { hardware_threads().min(MOST_LANES) };
        loop {
            match K::step(self, most_lanes) {
                RunnerStep::GoOn => {}
                RunnerStep::Start { is_only } => match self.worker(is_only) {
                    Ok(engine) => self.0.core.borrow_mut().run.add(engine),
                    Err(message) => {
                        let ended = self.0.core.borrow_mut().run.refuse(message);
                        return ended.into_iter().for_each(|state| self.end(state));
                    }
                },
                RunnerStep::Rest => return,
                RunnerStep::End(state) => return self.end(state),
            }
        }
    }

    /// A worker: the one that all runs share, or a new one.
    pub(super) fn worker(&self, is_only: bool) -> Result<Engine, String> {
        let Runner(inner) = self;
        if is_only { inner.pool.shared(K::PROGRAM) } else { inner.pool.take(K::PROGRAM) }
    }

    /// Does what a worker's message requires, and shows the result a moment later.
    pub(super) fn act(&self, row: u32, heard: NextAction<K::Result>) {
        match heard {
            NextAction::Taken => {}
            NextAction::GoOn => self.feed(),
            NextAction::Note(message) => self.tell(SweepNews::Note(message)),
            NextAction::Row(result) => self.take(row, *result),
            NextAction::Measured(cpu) => K::take_measured(self, *cpu),
            NextAction::Unexpected(kind) => self.0.notices.dispatch(NoticeAction::Say(Tone::Bad, unexpected(kind))),
        }
        self.show_later();
    }

    /// Removes a note from the list, also for later visits.
    pub fn dismiss(&self, message: &str) {
        self.0.core.borrow_mut().run.dismiss(message);
        self.tell(SweepNews::Dismiss(message.to_owned()));
    }

    pub(super) fn take(&self, row: u32, result: K::Result) {
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
        self.tell(SweepNews::End(state));
    }

    /// Pauses everything, also the rows that run.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Continues after a pause.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    fn set_paused(&self, is_paused: bool) {
        if self.0.core.borrow().planning.is_some() || self.0.core.borrow().run.sweep().is_none() {
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
            self.tell(SweepNews::End(RunState::Cancelled));
            return;
        }
        let requests = self.0.core.borrow_mut().run.cancel();
        for (engine, job) in requests {
            engine.cancel(job);
        }
        self.feed();
    }

    /// Runs the failed and cancelled rows again; finished rows stay.
    pub fn retry_failed(&self) {
        let sweep = self.0.core.borrow_mut().run.retry_failed();
        if let Some(sweep) = sweep {
            self.tell(SweepNews::GoOn);
            self.start(sweep);
        }
    }

    /// Drops a plan that was asked for; returns whether there was one.
    pub(super) fn stop_planning(&self) -> bool {
        let planning = self.0.core.borrow_mut().planning.take();
        planning.is_some_and(|(engine, job)| {
            engine.give_up(job);
            true
        })
    }
}
