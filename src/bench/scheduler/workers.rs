//! The clock and the workers: the stage of each, when it ends, and what a worker waits for. Resources are first come, first served.

use std::ops::Range;

use ns_base::{Interval, SimTime};

use super::executor::Stage;
use super::queue::{EventQueue, Resources};
use super::resources::HOST_CORES;

/// A worker and its state.
struct Worker {
    model: u32,
    /// The stage that its pending event ends; `None` for the wait for a query with a known arrival.
    stage: Option<Stage>,
    /// Duration of the stage it waits to begin, drawn when it queued.
    pending: u64,
    /// Start time of its stage.
    since: u64,
    /// When its inference was asked for.
    begun: u64,
    /// When the call of its inference began.
    called: u64,
}

/// All workers of a run, numbered over its copies.
pub(super) struct Workers {
    now: u64,
    workers: Vec<Worker>,
    events: EventQueue,
    resources: Resources,
    /// Whether there are more workers than cores of the host; otherwise none ever waits for a core.
    is_host_short: bool,
    /// Picoseconds of host work that began, of all workers together.
    host_work: u128,
    /// Workers that wait for a query.
    idle: Vec<u32>,
    running: usize,
}

impl Workers {
    /// `each` workers of every copy, at time zero, on a host with this many cores; `None` is a host without limit.
    pub(super) fn new(models: u32, each: u32, resources: usize, host_cores: Option<u32>) -> Self {
        let copies = (0..models).flat_map(|model| (0..each).map(move |_| model));
        let workers: Vec<Worker> =
            copies.map(|model| Worker { model, stage: None, pending: 0, since: 0, begun: 0, called: 0 }).collect();
        let count = workers.len();
        let (events, mut resources) = (EventQueue::new(count), Resources::new(resources, count));
        let is_host_short = host_cores.is_some_and(|cores| u64::from(cores) < count as u64);
        resources.set_servers(HOST_CORES, host_cores.unwrap_or(u32::MAX));
        let idle = Vec::with_capacity(count);
        Self { now: 0, workers, events, resources, is_host_short, host_work: 0, idle, running: count }
    }

    /// Host work of all workers that has begun.
    pub(super) fn host_work_ps(&self) -> u128 {
        self.host_work
    }

    /// The longest time that one of these resources has served.
    pub(super) fn longest_served(&self, resources: Range<usize>) -> SimTime {
        SimTime(self.resources.longest_served_ps(resources))
    }

    pub(super) fn now(&self) -> SimTime {
        SimTime(self.now)
    }

    /// Goes on to the next event: the worker whose stage ends.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        let (time, worker) = self.events.pop()?;
        self.now = time;
        Some(worker)
    }

    /// The model copy of a worker.
    #[inline]
    pub(super) fn model(&self, worker: u32) -> u32 {
        self.workers[worker as usize].model
    }

    #[inline]
    pub(super) fn stage(&self, worker: u32) -> Option<Stage> {
        self.workers[worker as usize].stage
    }

    /// The stage of a worker until now.
    pub(super) fn stage_span(&self, worker: u32) -> Interval<SimTime> {
        Interval::new(SimTime(self.workers[worker as usize].since), self.now())
    }

    /// The inference of a worker was asked for at this time.
    #[inline]
    pub(super) fn ask(&mut self, worker: u32, at: u64) {
        self.workers[worker as usize].begun = at;
    }

    /// Time since the inference of a worker was asked for.
    #[inline]
    pub(super) fn inference_time(&self, worker: u32) -> SimTime {
        SimTime(self.now - self.workers[worker as usize].begun)
    }

    /// The inference of a worker until now.
    pub(super) fn inference_span(&self, worker: u32) -> Interval<SimTime> {
        Interval::new(SimTime(self.workers[worker as usize].begun), self.now())
    }

    /// The call of a worker begins.
    #[inline]
    pub(super) fn call(&mut self, worker: u32) {
        self.workers[worker as usize].called = self.now;
    }

    /// Time since the call of a worker began.
    #[inline]
    pub(super) fn call_time(&self, worker: u32) -> SimTime {
        SimTime(self.now - self.workers[worker as usize].called)
    }

    /// Begins a stage that nothing delays.
    #[inline]
    pub(super) fn begin(&mut self, worker: u32, stage: Option<Stage>, time: SimTime) {
        let w = &mut self.workers[worker as usize];
        (w.stage, w.since) = (stage, self.now);
        self.events.schedule(self.now.saturating_add(time.0), worker);
    }

    /// Uses a resource for `time`, now or when it is this worker's turn.
    #[inline]
    pub(super) fn serve(&mut self, resource: usize, worker: u32, stage: Stage, time: SimTime) {
        if self.resources.acquire(resource, worker, time.0) {
            self.begin(worker, Some(stage), time);
        } else {
            self.wait(worker, stage, time);
        }
    }

    /// The worker waits for a resource, to begin a stage.
    #[inline]
    fn wait(&mut self, worker: u32, stage: Stage, time: SimTime) {
        let w = &mut self.workers[worker as usize];
        (w.stage, w.pending) = (Some(stage), time.0);
    }

    /// Hands on a resource of [`Self::serve`]; the worker that waited begins its stage.
    #[inline]
    pub(super) fn release(&mut self, resource: usize) {
        if let Some((next, stage, time)) = self.next_of(resource) {
            self.begin(next, stage, time);
        }
    }

    /// Hands on a resource: the worker that waited for it, with the stage that it begins and its length.
    #[inline]
    fn next_of(&mut self, resource: usize) -> Option<(u32, Option<Stage>, SimTime)> {
        let next = self.resources.release(resource)?;
        let w = &self.workers[next as usize];
        Some((next, w.stage, SimTime(w.pending)))
    }

    /// Works on a core of the host for `time`, now or when a core is free.
    #[inline]
    pub(super) fn work(&mut self, worker: u32, stage: Stage, time: SimTime) {
        self.host_work += u128::from(time.0);
        if self.is_host_short && !self.resources.acquire(HOST_CORES, worker, 0) {
            self.wait(worker, stage, time);
        } else {
            self.begin(worker, Some(stage), time);
        }
    }

    /// Leaves the core of [`Self::work`]; the worker that waited for one begins its stage.
    #[inline]
    pub(super) fn leave_core(&mut self) {
        if self.is_host_short {
            self.release(HOST_CORES);
        }
    }

    /// Works on a core of the host when it is this worker's turn on a lock.
    #[inline]
    pub(super) fn work_locked(&mut self, lock: usize, worker: u32, stage: Stage, time: SimTime) {
        if self.resources.acquire(lock, worker, 0) {
            self.work(worker, stage, time);
        } else {
            self.wait(worker, stage, time);
        }
    }

    /// Leaves the core and the lock of [`Self::work_locked`]; the worker that waited for the lock works next.
    #[inline]
    pub(super) fn unlock(&mut self, lock: usize) {
        self.leave_core();
        if let Some((next, Some(stage), time)) = self.next_of(lock) {
            self.work(next, stage, time);
        }
    }

    /// Takes a NeuronCore for a stage whose duration is not drawn yet; `false` if the worker has to wait for it.
    #[inline]
    pub(super) fn take_core(&mut self, core: usize, worker: u32, stage: u32) -> bool {
        self.workers[worker as usize].stage = Some(Stage::Device(stage));
        self.resources.acquire(core, worker, 0)
    }

    /// Hands on a NeuronCore; returns the worker that waited for it.
    #[inline]
    pub(super) fn hand_on(&mut self, core: usize) -> Option<u32> {
        self.resources.release(core)
    }

    /// A worker waits for a query.
    pub(super) fn rest(&mut self, worker: u32) {
        self.idle.push(worker);
    }

    /// The workers that waited for a query.
    pub(super) fn wake(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.idle)
    }

    /// A worker has no more inferences.
    pub(super) fn stop(&mut self) {
        self.running -= 1;
    }

    /// Whether every worker has stopped.
    pub(super) fn are_done(&self) -> bool {
        self.running == 0
    }
}
