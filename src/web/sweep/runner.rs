//! Hands configurations to workers and brings their rows back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::{Interval, Timeout};
use yew::{Callback, UseReducerDispatcher};

use super::cpu::{CpuRow, MOST_COPIES, failed_copy};
use super::keeper::{BEAT_MS, Keeper, KeptSweep};
use super::lane::{Lane, Running};
use crate::bench::cpu::{CpuTimers, side_by_side};
use crate::bench::{
    BenchConfig, Configuration, DeviceType, Processes, Report, RowResult, RunDetail, ServiceTimes, SweepState,
};
use crate::session::{Event, JobId, Request, RunRequest};
use crate::web::platform::machine::{hardware_threads, wall_ms};
use crate::web::state::RunState;
use crate::web::state::bench::{BenchAction, BenchState, RowId, SweepView, overall_share};
use crate::web::state::notices::{NoticeAction, Notices, Tone};
use crate::web::worker::{Engine, Pool};

/// More workers than this cost memory and start-up for little.
const MOST_LANES: usize = 8;
/// What happened is shown so long after it, together: a sweep can have thousands of rows, and the table is built anew.
const SHOW_MS: u32 = 100;

type Dispatch = UseReducerDispatcher<BenchState>;
type Sweep = Rc<RefCell<SweepState>>;

/// Runs sweeps. Clones are the same runner.
#[derive(Clone)]
pub struct SweepRunner(Rc<Inner>);

struct Inner {
    pool: Pool,
    dispatch: Dispatch,
    notices: UseReducerDispatcher<Notices>,
    core: RefCell<Core>,
    /// The page goes away.
    leaving: RefCell<Option<EventListener>>,
}

#[derive(Default)]
struct Core {
    /// Listed and not run.
    preview: Option<Sweep>,
    listing: Option<(Engine, JobId)>,
    /// The last one that ran, or runs.
    sweep: Option<Sweep>,
    lanes: Vec<Lane>,
    /// Stage times that some worker has worked out, by [`Configuration::times_key`].
    times: BTreeMap<u64, ServiceTimes>,
    /// The configuration that is measured.
    cpu: Option<CpuRow>,
    keeper: Option<Keeper>,
    beat: Option<Interval>,
    /// Rows that came and are not shown yet.
    fresh: Vec<(RowId, Rc<RowResult>)>,
    is_show_due: bool,
    is_running: bool,
    is_cancelled: bool,
    version: u32,
    started_ms: f64,
}

impl PartialEq for SweepRunner {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl SweepRunner {
    /// A runner over these workers, which tells the page's state of everything.
    #[must_use]
    pub fn new(pool: Pool, dispatch: Dispatch, notices: UseReducerDispatcher<Notices>) -> Self {
        let runner =
            Self(Rc::new(Inner { pool, dispatch, notices, core: RefCell::default(), leaving: RefCell::default() }));
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

    /// Lists the configurations of a benchmark, then what each will take, as workers find out.
    pub fn list(&self, config: &BenchConfig) {
        self.stop_listing();
        if self.0.core.borrow().is_running {
            return;
        }
        let sweep = match SweepState::new(config.clone()) {
            Ok(sweep) => Rc::new(RefCell::new(sweep)),
            Err(error) => {
                self.0.core.borrow_mut().preview = None;
                self.0.dispatch.dispatch(BenchAction::Listed(Err(error.to_string())));
                return;
            }
        };
        self.0.core.borrow_mut().preview = Some(Rc::clone(&sweep));
        self.show_preview(&sweep);
        // How long a measurement takes is not known before it was made.
        if config.options.device_type == DeviceType::Cpu {
            return;
        }
        let Ok(engine) = self.0.pool.bench() else { return };
        let runner = self.clone();
        let on_event = Callback::from(move |event| runner.on_listing(&sweep, event));
        let config = Box::new(config.clone());
        let job = engine.send(|job| Request::PlanBench { job, config }, None, on_event);
        self.0.core.borrow_mut().listing = Some((engine, job));
    }

    fn on_listing(&self, sweep: &Sweep, event: Event) {
        match event {
            Event::Estimated { row, estimate, times, .. } => {
                let key = sweep.borrow().rows().get(row as usize).map(|r| r.planned.configuration.times_key());
                if let (Some(key), Some(times)) = (key, times) {
                    self.0.core.borrow_mut().times.insert(key, *times);
                }
                sweep.borrow_mut().learn(row, estimate);
                self.show_later();
            }
            event if event.is_last() => {
                self.0.core.borrow_mut().listing = None;
                self.show_preview(sweep);
            }
            _ => {}
        }
    }

    fn show_preview(&self, sweep: &Sweep) {
        let view = self.view_of(sweep);
        self.0.dispatch.dispatch(BenchAction::Listed(Ok(view)));
    }

    fn stop_listing(&self) {
        let listing = self.0.core.borrow_mut().listing.take();
        if let Some((engine, job)) = listing {
            engine.forget(job);
            engine.tell(&Request::Cancel { job });
        }
    }

    /// Runs a benchmark from its beginning.
    pub fn run(&self, config: BenchConfig) {
        self.stop_listing();
        let listed = self.0.core.borrow_mut().preview.take().filter(|p| p.borrow().config == config);
        let sweep = match listed.map_or_else(|| SweepState::new(config).map(RefCell::new).map(Rc::new), Ok) {
            Ok(sweep) => sweep,
            Err(error) => {
                self.0.dispatch.dispatch(BenchAction::End(RunState::Failed(error.to_string())));
                return;
            }
        };
        if let Some(keeper) = self.0.core.borrow_mut().keeper.take() {
            keeper.forget();
        }
        let keeper = Keeper::begin(&sweep.borrow());
        self.0.core.borrow_mut().keeper = Some(keeper);
        let config = sweep.borrow().config.clone();
        let notes = sweep.borrow().messages.clone();
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(config), notes));
        self.start(sweep);
    }

    fn start(&self, sweep: Sweep) {
        {
            let mut core = self.0.core.borrow_mut();
            core.sweep = Some(sweep);
            (core.is_running, core.is_cancelled, core.started_ms) = (true, false, wall_ms());
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

    /// Hands out what waits to workers that are free, and ends the run when nothing is left.
    fn feed(&self) {
        loop {
            let Some(sweep) = self.0.core.borrow().sweep.clone() else { return };
            let waiting = if sweep.borrow().is_paused() { 0 } else { sweep.borrow().progress().waiting };
            if sweep.borrow().config.options.device_type == DeviceType::Cpu {
                if waiting == 0 || !self.measure_next(&sweep) {
                    break;
                }
                continue;
            }
            let lane = match self.free_lane(waiting) {
                Ok(Some(lane)) => lane,
                Ok(None) => break,
                Err(message) => {
                    sweep.borrow_mut().cancel();
                    self.end(RunState::Failed(message));
                    return;
                }
            };
            let Some((row, configuration)) = sweep.borrow_mut().begin_next() else { break };
            self.hand_out(lane, row, configuration);
        }
        let is_idle = self.0.core.borrow().lanes.iter().all(|l| l.running.is_none());
        let Some(sweep) = self.0.core.borrow().sweep.clone() else { return };
        if is_idle && sweep.borrow().is_done() && self.0.core.borrow().is_running {
            let end = if self.0.core.borrow().is_cancelled { RunState::Cancelled } else { RunState::Done };
            self.end(end);
        }
    }

    /// A worker with nothing to do: one that is there, or a new one while there is room and work for it.
    fn free_lane(&self, waiting: u32) -> Result<Option<usize>, String> {
        if waiting == 0 {
            return Ok(None);
        }
        let mut core = self.0.core.borrow_mut();
        core.lanes.retain(|l| l.running.is_some() || l.engine.is_alive());
        if let Some(free) = core.lanes.iter().position(Lane::is_free) {
            return Ok(Some(free));
        }
        let busy = core.lanes.len();
        if busy >= hardware_threads().min(MOST_LANES) {
            return Ok(None);
        }
        let engine = if busy == 0 { self.0.pool.bench() } else { self.0.pool.take() };
        match engine {
            Ok(engine) => core.lanes.push(Lane { engine, running: None }),
            // The workers that are there do it alone.
            Err(_) if busy > 0 => return Ok(None),
            Err(message) => return Err(message),
        }
        Ok(Some(busy))
    }

    /// Begins to measure the next configuration, unless one is measured; whether the one after it may be looked at.
    fn measure_next(&self, sweep: &Sweep) -> bool {
        if self.0.core.borrow().cpu.is_some() {
            return false;
        }
        let Some((row, configuration)) = sweep.borrow_mut().begin_next() else { return false };
        match self.lanes_for_copies(side_by_side(&configuration).0, configuration.options.processes == Processes::Fresh)
        {
            Ok(engines) => self.measure(row, &configuration, engines),
            Err(message) => {
                let report = Report::failed(&configuration, message);
                self.take(row, RowResult { report, ..RowResult::default() });
            }
        }
        true
    }

    /// A worker for each copy; `is_fresh` starts new ones for this configuration.
    fn lanes_for_copies(&self, copies: u32, is_fresh: bool) -> Result<Vec<Engine>, String> {
        if copies > MOST_COPIES {
            return Err(format!("n_models {copies}: at most {MOST_COPIES} copies are measured here, a worker each"));
        }
        let mut core = self.0.core.borrow_mut();
        core.lanes.retain(|l| l.engine.is_alive() && !is_fresh);
        while core.lanes.len() < copies as usize {
            let engine = if core.lanes.is_empty() && !is_fresh { self.0.pool.bench() } else { self.0.pool.take() };
            core.lanes.push(Lane { engine: engine?, running: None });
        }
        Ok(core.lanes.iter().take(copies as usize).map(|l| l.engine.clone()).collect())
    }

    fn measure(&self, row: u32, configuration: &Configuration, engines: Vec<Engine>) {
        self.0.core.borrow_mut().cpu = Some(CpuRow::new(row, configuration.clone()));
        for (copy, engine) in (0..).zip(engines) {
            let (runner, at) = (self.clone(), engine.clone());
            let on_event = Callback::from(move |event| runner.on_copy(&at, row, copy, event));
            let configuration = Box::new(side_by_side(configuration).1);
            let job = engine.send(|job| Request::MeasureCpu { job, copy, configuration }, None, on_event);
            if engine.is_alive()
                && let Some(lane) = self.0.core.borrow_mut().lanes.iter_mut().find(|l| l.engine == engine)
            {
                lane.running = Some(Running { row, job, share: 0.0 });
            }
        }
    }

    fn on_copy(&self, engine: &Engine, row: u32, copy: u32, event: Event) {
        match event {
            Event::Progress { done, total, .. } => self.share(engine, row, done, total),
            Event::CpuTimers { timers, .. } => self.take_copy(engine, row, copy, *timers),
            Event::Failed { message, .. } => self.take_copy(engine, row, copy, failed_copy(message)),
            Event::Cancelled { .. } => self.take_copy(engine, row, copy, failed_copy("stopped when asked".to_owned())),
            _ => {}
        }
        self.show_later();
    }

    fn take_copy(&self, engine: &Engine, row: u32, copy: u32, mut timers: CpuTimers) {
        self.free(engine, row);
        let done = {
            let mut core = self.0.core.borrow_mut();
            // What was cut off is no measurement of the duration that was asked for.
            if core.is_cancelled && timers.error.is_none() {
                timers.error = Some("stopped when asked".to_owned());
            }
            let is_last = core.cpu.as_mut().is_some_and(|cpu| cpu.row == row && cpu.take(copy, timers));
            if is_last { core.cpu.take() } else { None }
        };
        if let Some(cpu) = done {
            self.take(row, cpu.finish());
        }
    }

    fn share(&self, engine: &Engine, row: u32, done: u64, total: u64) {
        let mut core = self.0.core.borrow_mut();
        let lane = core.lanes.iter_mut().find(|l| l.engine == *engine);
        if let Some(running) = lane.and_then(|l| l.running.as_mut()).filter(|r| r.row == row) {
            running.share = done as f64 / total.max(1) as f64;
        }
    }

    fn hand_out(&self, lane: usize, row: u32, configuration: Configuration) {
        let (engine, times) = {
            let core = self.0.core.borrow();
            let Some(lane) = core.lanes.get(lane) else { return };
            (lane.engine.clone(), core.times.get(&configuration.times_key()).cloned())
        };
        let detail = RunDetail { charts: true, ..RunDetail::default() };
        let run = Box::new(RunRequest { row, configuration: configuration.clone(), times, detail });
        let (runner, at) = (self.clone(), engine.clone());
        let on_event = Callback::from(move |event| runner.on_row(&at, row, &configuration, event));
        let job = engine.send(|job| Request::RunConfiguration { job, run }, None, on_event);
        // A worker that is dead has answered already.
        if engine.is_alive()
            && let Some(lane) = self.0.core.borrow_mut().lanes.get_mut(lane)
        {
            lane.running = Some(Running { row, job, share: 0.0 });
        }
    }

    fn on_row(&self, engine: &Engine, row: u32, configuration: &Configuration, event: Event) {
        match event {
            Event::Progress { done, total, .. } => self.share(engine, row, done, total),
            Event::Row { result, .. } => {
                self.free(engine, row);
                self.take(row, *result);
            }
            Event::Failed { message, .. } => {
                let report = Report::failed(configuration, message);
                self.free(engine, row);
                self.take(row, RowResult { report, ..RowResult::default() });
            }
            Event::Cancelled { .. } => {
                self.free(engine, row);
                if let Some(sweep) = &self.0.core.borrow().sweep {
                    sweep.borrow_mut().give_back(row);
                }
                self.feed();
            }
            _ => {}
        }
        self.show_later();
    }

    fn free(&self, engine: &Engine, row: u32) {
        let mut core = self.0.core.borrow_mut();
        for lane in core.lanes.iter_mut().filter(|l| l.engine == *engine) {
            if lane.running.as_ref().is_some_and(|r| r.row == row) {
                lane.running = None;
            }
        }
    }

    fn take(&self, row: u32, result: RowResult) {
        let mut is_refused = false;
        {
            let mut core = self.0.core.borrow_mut();
            let Some(sweep) = core.sweep.clone() else { return };
            sweep.borrow_mut().finish(row, result.report.clone());
            if let Some(keeper) = &core.keeper {
                is_refused = !keeper.row(&sweep.borrow(), row, &result);
            }
            core.fresh.push((RowId::Own(row), Rc::new(result)));
        }
        if is_refused {
            let text =
                "The browser keeps no more rows for a later visit. Download the results before you close this tab.";
            self.0.notices.dispatch(NoticeAction::Say(Tone::Info, text.to_owned()));
        }
        self.feed();
    }

    fn end(&self, state: RunState) {
        {
            let mut core = self.0.core.borrow_mut();
            core.is_running = false;
            core.beat = None;
            if let (Some(keeper), Some(sweep)) = (&core.keeper, &core.sweep) {
                keeper.update(&sweep.borrow());
                keeper.leave();
            }
        }
        self.show();
        self.0.dispatch.dispatch(BenchAction::End(state));
    }

    /// Lets everything rest, also the configurations that run.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Goes on.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    fn set_paused(&self, is_paused: bool) {
        let running: Vec<(Engine, JobId)> = {
            let core = self.0.core.borrow();
            let Some(sweep) = &core.sweep else { return };
            if is_paused {
                sweep.borrow_mut().pause()
            } else {
                sweep.borrow_mut().resume()
            }
            // A measurement goes on: its clock can not rest.
            let resting = core.lanes.iter().filter(|_| core.cpu.is_none());
            resting.filter_map(|l| l.running.as_ref().map(|r| (l.engine.clone(), r.job))).collect()
        };
        for (engine, job) in running {
            engine.tell(&if is_paused { Request::Pause { job } } else { Request::Resume { job } });
        }
        self.show();
        self.feed();
    }

    /// Gives up what waits and what runs; rows that are there stay.
    pub fn cancel(&self) {
        let running: Vec<(Engine, JobId)> = {
            let mut core = self.0.core.borrow_mut();
            core.is_cancelled = true;
            let Some(sweep) = &core.sweep else { return };
            sweep.borrow_mut().cancel();
            let jobs = core.lanes.iter().filter_map(|l| l.running.as_ref().map(|r| (l.engine.clone(), r.job)));
            jobs.collect()
        };
        for (engine, job) in running {
            engine.cancel(job);
        }
        self.feed();
    }

    /// Runs again what failed or was cancelled; rows that finished stay.
    pub fn retry_failed(&self) {
        let Some(sweep) = self.0.core.borrow().sweep.clone() else { return };
        if sweep.borrow_mut().retry_failed() > 0 {
            self.0.dispatch.dispatch(BenchAction::GoOn);
            self.start(sweep);
        }
    }

    /// Shows a sweep of an earlier visit, and runs what is left of it if wanted.
    ///
    /// # Errors
    /// When it can not be listed any more.
    pub fn take_up(&self, kept: &KeptSweep, runs_rest: bool) -> Result<(), String> {
        let restored = kept.restore()?;
        let mut sweep = restored.sweep;
        if !runs_rest {
            sweep.cancel();
        }
        let notes = sweep.messages.clone();
        self.stop_listing();
        self.0.dispatch.dispatch(BenchAction::Index(None));
        self.0.dispatch.dispatch(BenchAction::Load(Box::new(sweep.config.clone())));
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(sweep.config.clone()), notes));
        self.0.dispatch.dispatch(BenchAction::Imported(restored.others));
        let results = restored.results.into_iter().map(|(row, result)| (RowId::Own(row), Rc::new(result)));
        {
            let mut core = self.0.core.borrow_mut();
            core.fresh.extend(results);
            core.keeper = Some(Keeper::adopt(kept));
        }
        if restored.unreadable > 0 {
            let text = format!("{} kept rows could not be read and are run again.", restored.unreadable);
            self.0.notices.dispatch(NoticeAction::Say(Tone::Info, text));
        }
        self.start(Rc::new(RefCell::new(sweep)));
        Ok(())
    }

    fn view_of(&self, sweep: &Sweep) -> SweepView {
        let mut core = self.0.core.borrow_mut();
        core.version += 1;
        let running = core.lanes.iter().filter_map(|l| l.running.as_ref());
        let shares = running.map(|r| (r.row, r.share)).collect();
        SweepView::new(Rc::clone(sweep), core.version, shares, core.lanes.len())
    }

    fn show_later(&self) {
        if std::mem::replace(&mut self.0.core.borrow_mut().is_show_due, true) {
            return;
        }
        let runner = self.clone();
        Timeout::new(SHOW_MS, move || runner.show()).forget();
    }

    /// Brings the page up to date.
    fn show(&self) {
        let (fresh, sweep, preview, is_running, started_ms) = {
            let mut core = self.0.core.borrow_mut();
            core.is_show_due = false;
            let fresh = std::mem::take(&mut core.fresh);
            (fresh, core.sweep.clone(), core.preview.clone(), core.is_running, core.started_ms)
        };
        if !fresh.is_empty() {
            self.0.dispatch.dispatch(BenchAction::Results(fresh));
        }
        if let Some(preview) = preview {
            self.show_preview(&preview);
        }
        let Some(sweep) = sweep else { return };
        let view = self.view_of(&sweep);
        if is_running {
            let share = overall_share(&sweep.borrow(), view.shares());
            let label = view.run_label(share, (wall_ms() - started_ms) / 1e3);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 1000
            let done = (share * 1e3) as u64;
            self.0.dispatch.dispatch(BenchAction::Progress(RunState::Running { done, total: 1_000, label }));
        }
        self.0.dispatch.dispatch(BenchAction::Ran(view));
    }
}
