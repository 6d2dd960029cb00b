//! Hands configurations to workers and brings their rows back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Interval;
use yew::{Callback, UseReducerDispatcher};

use super::cpu::CpuRow;
use super::keeper::{BEAT_MS, Keeper, KeptSweep};
use super::lane::{Lane, Running};
use crate::bench::{BenchConfig, Configuration, DeviceType, RowResult, RunDetail, ServiceTimes, SweepPlan, SweepState};
use crate::page::RunState;
use crate::page::bench::{BenchAction, BenchState, RowId};
use crate::page::notices::{NoticeAction, Notices, Tone};
use crate::session::{Control, JobId, JobRequest, JobResult, Part, RunRequest, Told};
use crate::web::platform::machine::{hardware_threads, wall_ms};
use crate::web::worker::{Engine, Pool};

/// More workers than this cost memory and start-up for little.
const MOST_LANES: usize = 8;

type Dispatch = UseReducerDispatcher<BenchState>;
/// A sweep that the page and the runner look at.
pub(super) type Sweep = Rc<RefCell<SweepState>>;

/// Runs sweeps. Clones are the same runner.
#[derive(Clone)]
pub struct SweepRunner(pub(super) Rc<Inner>);

pub(super) struct Inner {
    pub(super) pool: Pool,
    pub(super) dispatch: Dispatch,
    pub(super) notices: UseReducerDispatcher<Notices>,
    pub(super) core: RefCell<Core>,
    /// The page goes away.
    pub(super) leaving: RefCell<Option<EventListener>>,
}

#[derive(Default)]
pub(super) struct Core {
    /// Listed and not run.
    pub(super) preview: Option<Sweep>,
    pub(super) listing: Option<(Engine, JobId)>,
    /// The plan of what is about to run.
    pub(super) planning: Option<(Engine, JobId)>,
    /// The last one that ran, or runs.
    pub(super) sweep: Option<Sweep>,
    pub(super) lanes: Vec<Lane>,
    /// Stage times that some worker has worked out, by [`Configuration::times_key`].
    pub(super) times: BTreeMap<u64, ServiceTimes>,
    /// The configuration that is measured.
    pub(super) cpu: Option<CpuRow>,
    pub(super) keeper: Option<Keeper>,
    pub(super) beat: Option<Interval>,
    /// Rows that came and are not shown yet.
    pub(super) fresh: Vec<(RowId, Rc<RowResult>)>,
    /// What a scenario says of how far it is.
    pub(super) doing: String,
    pub(super) is_show_due: bool,
    pub(super) is_running: bool,
    pub(super) is_cancelled: bool,
    pub(super) version: u32,
    pub(super) started_ms: f64,
}

impl Core {
    /// Keys of stage times that workers are working out.
    fn awaited_times(&self) -> Vec<u64> {
        self.lanes.iter().filter_map(|l| l.running.as_ref()?.works_out).collect()
    }
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

    /// Runs a benchmark from its beginning.
    pub fn run(&self, config: BenchConfig) {
        self.stop_listing();
        let listed = self.0.core.borrow_mut().preview.take().filter(|p| p.borrow().config == config);
        if let Some(sweep) = listed {
            self.begin(sweep);
            return;
        }
        let asked = config.clone();
        self.plan(&config, move |runner, plan| match plan {
            Ok(plan) => runner.begin(Rc::new(RefCell::new(SweepState::of(asked.clone(), plan)))),
            Err(message) => runner.0.dispatch.dispatch(BenchAction::End(RunState::Failed(message))),
        });
    }

    fn begin(&self, sweep: Sweep) {
        {
            let mut core = self.0.core.borrow_mut();
            // What had ended stays on the shelf.
            let has_ended = !core.is_cancelled && core.sweep.as_ref().is_some_and(|s| s.borrow().is_done());
            if let Some(keeper) = core.keeper.take().filter(|_| !has_ended) {
                keeper.forget();
            }
        }
        let keeper = Keeper::begin(&sweep.borrow());
        self.0.core.borrow_mut().keeper = Some(keeper);
        let config = sweep.borrow().config.clone();
        let notes = sweep.borrow().messages.clone();
        self.0.dispatch.dispatch(BenchAction::Start(Box::new(config), notes));
        self.start(sweep);
    }

    pub(super) fn start(&self, sweep: Sweep) {
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
    pub(super) fn feed(&self) {
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
            // Stage times are worked out once: who has the same ones waits for them.
            let awaited = self.0.core.borrow().awaited_times();
            let next = sweep.borrow_mut().begin_next_of(|c| !awaited.contains(&c.times_key()));
            let Some((row, configuration)) = next else { break };
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
    pub(super) fn free_lane(&self, waiting: u32) -> Result<Option<usize>, String> {
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

    pub(super) fn share(&self, engine: &Engine, row: u32, done: u64, total: u64) {
        self.with_running(engine, row, |running| running.share = done as f64 / total.max(1) as f64);
    }

    pub(super) fn with_running(&self, engine: &Engine, row: u32, change: impl FnOnce(&mut Running)) {
        let mut core = self.0.core.borrow_mut();
        let lane = core.lanes.iter_mut().find(|l| l.engine == *engine);
        if let Some(running) = lane.and_then(|l| l.running.as_mut()).filter(|r| r.row == row) {
            change(running);
        }
    }

    fn hand_out(&self, lane: usize, row: u32, configuration: Configuration) {
        let (engine, times, settings) = {
            let core = self.0.core.borrow();
            let Some(lane) = core.lanes.get(lane) else { return };
            let settings = core.sweep.as_ref().and_then(|sweep| sweep.borrow().config.mlperf.clone());
            (lane.engine.clone(), core.times.get(&configuration.times_key()).cloned(), settings)
        };
        let works_out = (settings.is_none() && times.is_none()).then(|| configuration.times_key());
        let asked = configuration.clone();
        let (runner, at) = (self.clone(), engine.clone());
        let on_told = Callback::from(move |told| runner.on_row(&at, row, &configuration, told));
        let request = match settings {
            Some(settings) => JobRequest::Mlperf { settings: Box::new(settings), configuration: Box::new(asked) },
            None => {
                let detail = RunDetail { charts: true, ..RunDetail::default() };
                JobRequest::RunConfiguration(Box::new(RunRequest { row, configuration: asked, times, detail }))
            }
        };
        let job = engine.send(request, None, on_told);
        // A worker that is dead has answered already.
        if engine.is_alive()
            && let Some(lane) = self.0.core.borrow_mut().lanes.get_mut(lane)
        {
            lane.running = Some(Running { works_out, ..Running::new(row, job) });
        }
    }

    /// Takes stage times that the worker of a row has worked out; rows that waited for them begin.
    fn learn(&self, engine: &Engine, row: u32, key: u64, times: ServiceTimes) {
        self.with_running(engine, row, |running| running.works_out = None);
        self.0.core.borrow_mut().times.insert(key, times);
        self.feed();
    }

    fn on_row(&self, engine: &Engine, row: u32, configuration: &Configuration, told: Told) {
        match told {
            Told::Progress { done, total, label } => {
                self.share(engine, row, done, total);
                self.0.core.borrow_mut().doing = label;
            }
            Told::Note(message) => self.note(message),
            Told::Part(Part::Times { times, .. }) => self.learn(engine, row, configuration.times_key(), *times),
            Told::Paused => self.with_running(engine, row, |r| r.is_resting = true),
            Told::Done(JobResult::Mlperf(result)) => {
                self.free(engine, row);
                self.take(row, RowResult::of_scenario(configuration, result));
            }
            Told::Done(JobResult::Row { result, .. }) => {
                self.free(engine, row);
                self.take(row, *result);
            }
            Told::Failed(message) => {
                self.free(engine, row);
                self.take(row, RowResult::failed(configuration, message));
            }
            Told::Cancelled => {
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

    fn note(&self, message: String) {
        let core = self.0.core.borrow();
        if core.sweep.as_ref().is_some_and(|sweep| sweep.borrow_mut().note(&message)) {
            self.0.dispatch.dispatch(BenchAction::Note(message));
        }
    }

    /// Takes a note off the list, also for a later visit.
    pub fn dismiss(&self, message: &str) {
        if let Some(sweep) = &self.0.core.borrow().sweep {
            sweep.borrow_mut().dismiss(message);
        }
        self.0.dispatch.dispatch(BenchAction::Dismiss(message.to_owned()));
    }

    pub(super) fn free(&self, engine: &Engine, row: u32) {
        let mut core = self.0.core.borrow_mut();
        for lane in core.lanes.iter_mut().filter(|l| l.engine == *engine) {
            if lane.running.as_ref().is_some_and(|r| r.row == row) {
                lane.running = None;
            }
        }
    }

    pub(super) fn take(&self, row: u32, result: RowResult) {
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

    pub(super) fn end(&self, state: RunState) {
        {
            let mut core = self.0.core.borrow_mut();
            core.is_running = false;
            core.beat = None;
            if let (Some(keeper), Some(sweep)) = (&core.keeper, &core.sweep) {
                keeper.update(&sweep.borrow());
                keeper.leave();
                if state == RunState::Done {
                    keeper.put_on_shelf(&sweep.borrow());
                }
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
        if self.0.core.borrow().planning.is_some() {
            return;
        }
        let running: Vec<(Engine, JobId)> = {
            let mut core = self.0.core.borrow_mut();
            let Some(sweep) = &core.sweep else { return };
            if is_paused {
                sweep.borrow_mut().pause()
            } else {
                sweep.borrow_mut().resume()
            }
            core.lanes.iter_mut().filter_map(|l| l.running.as_mut()).for_each(|r| r.is_resting = false);
            // A measurement goes on: its clock can not rest.
            let resting = core.lanes.iter().filter(|_| core.cpu.is_none());
            resting.filter_map(|l| l.running.as_ref().map(|r| (l.engine.clone(), r.job))).collect()
        };
        for (engine, job) in running {
            engine.tell(if is_paused { Control::Pause(job) } else { Control::Resume(job) });
        }
        self.show();
        self.feed();
    }

    /// Gives up what waits and what runs; rows that are there stay.
    pub fn cancel(&self) {
        if self.stop_planning() {
            self.0.dispatch.dispatch(BenchAction::End(RunState::Cancelled));
            return;
        }
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
    }
}
