//! Hands rows to workers. The kinds of sweeps add which row may begin when: `benchmarks.rs`, `experiments.rs`.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::rc::Rc;

use super::lane::{Lane, Running, Worker};
use crate::RunState;
use ns_bench::{Benchmarks, SweepKind, SweepOf};
use ns_session::JobId;

/// A kind of sweep that can be handed out.
pub trait WorkerSweep: SweepKind {
    /// What the rows of a sweep learn from each other.
    type Memory: Default + Debug;

    /// The result of a row that ended without one.
    fn failed(config: &Self::Config, item: &Self::Item, message: String) -> Self::Result;

    /// Whether a measurement runs, whose clock cannot be paused.
    fn is_measuring(_memory: &Self::Memory) -> bool {
        false
    }

    /// Whether the progress says what the workers are doing.
    fn says_doing(_config: &Self::Config) -> bool {
        false
    }
}

/// The workers of a sweep and the row that each runs.
#[derive(Debug)]
pub struct Dispatch<W, K: WorkerSweep = Benchmarks> {
    /// The sweep that ran last, or runs.
    pub(super) sweep: Option<Rc<SweepOf<K>>>,
    pub(super) lanes: Vec<Lane<W>>,
    pub(super) memory: K::Memory,
    /// Rows whose results are not shown yet.
    pub(super) fresh: BTreeSet<u32>,
    /// What a worker said last that it does.
    pub(super) doing: String,
    pub(super) is_running: bool,
    pub(super) is_cancelled: bool,
    pub(super) started_ms: f64,
}

/// What a dispatch does next, whatever the kind of its sweep.
#[derive(Debug)]
pub(super) enum Next<W, I> {
    Rest,
    /// Start a worker; the only one is the one that all runs share.
    Start {
        is_only: bool,
    },
    /// A row has begun on a worker.
    Begin(W, u32, I),
    End(RunState),
}

impl<W, K: WorkerSweep> Default for Dispatch<W, K> {
    fn default() -> Self {
        Self {
            sweep: None,
            lanes: Vec::new(),
            memory: K::Memory::default(),
            fresh: BTreeSet::new(),
            doing: String::new(),
            is_running: false,
            is_cancelled: false,
            started_ms: 0.0,
        }
    }
}

impl<W: Worker, K: WorkerSweep> Dispatch<W, K> {
    /// Whether a sweep runs.
    pub const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether the last sweep ended without being cancelled.
    pub fn has_ended(&self) -> bool {
        !self.is_cancelled && self.sweep.as_ref().is_some_and(|s| s.is_done())
    }

    /// The sweep that ran last, or runs.
    pub const fn sweep(&self) -> Option<&Rc<SweepOf<K>>> {
        self.sweep.as_ref()
    }

    /// The sweep, to change it: views keep it as it was.
    pub(super) fn sweep_mut(&mut self) -> Option<&mut SweepOf<K>> {
        self.sweep.as_mut().map(Rc::make_mut)
    }

    /// Starts to hand out a sweep, at a time in milliseconds.
    pub fn start(&mut self, sweep: Rc<SweepOf<K>>, now_ms: f64) {
        self.sweep = Some(sweep);
        (self.is_running, self.is_cancelled, self.started_ms) = (true, false, now_ms);
    }

    /// The next step, with at most `most_lanes` workers, over the rows that may begin.
    pub(super) fn next_of(&mut self, most_lanes: usize, may_begin: impl Fn(&K::Item) -> bool) -> Next<W, K::Item> {
        let waiting = self.sweep.as_ref().filter(|sweep| !sweep.is_paused()).map_or(0, |s| s.progress().waiting);
        if waiting == 0 {
            return self.rest();
        }
        self.lanes.retain(|l| l.running.is_some() || l.worker.is_alive());
        let Some(worker) = self.lanes.iter().find(|l| l.is_free()).map(|l| l.worker.clone()) else {
            let busy = self.lanes.len();
            return if busy < most_lanes { Next::Start { is_only: busy == 0 } } else { self.rest() };
        };
        let next = self.sweep_mut().and_then(|sweep| sweep.begin_next_of(may_begin));
        next.map_or_else(|| self.rest(), |(row, item)| Next::Begin(worker, row, item))
    }

    /// Waits, or ends the run if all rows are done.
    pub(super) fn rest<I>(&self) -> Next<W, I> {
        let is_idle = self.lanes.iter().all(|l| l.running.is_none());
        let is_done = self.sweep.as_ref().is_some_and(|sweep| sweep.is_done());
        if !(is_idle && is_done && self.is_running) {
            return Next::Rest;
        }
        Next::End(if self.is_cancelled { RunState::Cancelled } else { RunState::Done })
    }

    /// Adds a worker that was started.
    pub fn add(&mut self, worker: W) {
        self.lanes.push(Lane { worker, running: None });
    }

    /// Called when no worker could be started: the existing ones continue alone; without any the run has failed. Returns how the run
    /// ended, if it did.
    pub fn refuse(&mut self, message: String) -> Option<RunState> {
        if !self.lanes.is_empty() {
            let next: Next<W, ()> = self.rest();
            return if let Next::End(state) = next { Some(state) } else { None };
        }
        if let Some(sweep) = self.sweep_mut() {
            sweep.cancel();
        }
        Some(RunState::Failed(message))
    }

    /// Whether there is no worker.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Notes that a row, or a copy of one that is measured, was sent to its worker as this request.
    pub fn sent_row(&mut self, worker: &W, row: u32, job: JobId) {
        if let Some(lane) = self.lane_of(worker) {
            lane.running = Some(Running::new(row, job));
        }
    }

    /// Takes the result of a row; `next` returns the step that follows.
    pub fn finish(&mut self, row: u32, result: K::Result) {
        if let Some(sweep) = self.sweep_mut() {
            sweep.finish(row, result);
            self.fresh.insert(row);
        }
    }

    /// Shows the results that a sweep has from an earlier visit, once it starts.
    pub fn recall(&mut self, sweep: &SweepOf<K>) {
        self.fresh = (0..).zip(sweep.rows()).filter(|(_, row)| row.result().is_some()).map(|(row, _)| row).collect();
    }

    /// Drops a note that the user has read.
    pub fn dismiss(&mut self, message: &str) {
        if let Some(sweep) = self.sweep_mut() {
            sweep.dismiss(message);
        }
    }

    /// The sweep with its failed and cancelled rows waiting again, to be started; `None` if there are none.
    pub fn retry_failed(&mut self) -> Option<Rc<SweepOf<K>>> {
        let count = self.sweep_mut()?.retry_failed();
        self.sweep.clone().filter(|_| count > 0)
    }

    /// Notes that the run is over.
    pub const fn end(&mut self) {
        self.is_running = false;
    }

    /// Pauses or resumes the sweep; returns the requests to notify.
    pub fn set_paused(&mut self, is_paused: bool) -> Vec<(W, JobId)> {
        let Some(sweep) = self.sweep_mut() else { return Vec::new() };
        if is_paused {
            sweep.pause();
        } else {
            sweep.resume();
        }
        self.lanes.iter_mut().filter_map(|l| l.running.as_mut()).for_each(|r| r.is_resting = false);
        // A measurement continues: its clock cannot be paused.
        if K::is_measuring(&self.memory) { Vec::new() } else { self.requests() }
    }

    /// Cancels the waiting and the running rows; returns the requests to stop. Finished rows stay.
    pub fn cancel(&mut self) -> Vec<(W, JobId)> {
        self.is_cancelled = true;
        let Some(sweep) = self.sweep_mut() else { return Vec::new() };
        sweep.cancel();
        self.requests()
    }

    fn requests(&self) -> Vec<(W, JobId)> {
        self.lanes.iter().filter_map(|l| l.running.map(|r| (l.worker.clone(), r.job))).collect()
    }

    pub(super) fn lane_of(&mut self, worker: &W) -> Option<&mut Lane<W>> {
        self.lanes.iter_mut().find(|l| l.worker == *worker)
    }
}
