//! The resources that workers share: the host, an interpreter, links of devices, input locks and NeuronCores, each first come, first
//! served.

use crate::scheduler::executor::{Executor, Stage};
use crate::scheduler::observer::RunObserver;
use ns_base::SimTime;

use super::run::Scheduler;

/// The shared host resource.
pub(super) const HOST: usize = 0;
/// The interpreter that all copies share when they are in one process.
const INTERPRETER: usize = 1;
/// Links of devices follow, then input locks and NeuronCores.
pub(super) const FIRST_LINK: usize = 2;

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    /// Work of the worker's own thread: parallel to others, or taking turns in a shared process.
    pub(super) fn interpret(&mut self, worker: u32, stage: Stage, time: SimTime) {
        if self.shared_process {
            self.serve(INTERPRETER, worker, stage, time);
        } else {
            self.begin(worker, Some(stage), time.0);
        }
    }

    pub(super) fn leave_interpreter(&mut self) {
        if self.shared_process {
            self.release(INTERPRETER);
        }
    }

    /// Uses a resource for `time`, now or when it is this worker's turn.
    pub(super) fn serve(&mut self, resource: usize, worker: u32, stage: Stage, time: SimTime) {
        if self.resources.acquire(resource, worker) {
            self.begin(worker, Some(stage), time.0);
        } else {
            let w = &mut self.workers[worker as usize];
            w.stage = Some(stage);
            w.pending = time.0;
        }
    }

    /// Hands on an input lock, a link or the host resource; the worker that waited begins its stage.
    pub(super) fn release(&mut self, resource: usize) {
        if let Some(next) = self.resources.release(resource) {
            let w = &self.workers[next as usize];
            self.begin(next, w.stage, w.pending);
        }
    }

    pub(super) fn begin(&mut self, worker: u32, stage: Option<Stage>, time: u64) {
        let w = &mut self.workers[worker as usize];
        w.stage = stage;
        if O::LISTENS {
            w.since = self.now;
        }
        self.events.schedule(self.now.saturating_add(time), worker);
    }

    pub(super) fn input_resource(&self, worker: u32) -> usize {
        if self.shared_process { INTERPRETER } else { self.input_lock(worker) }
    }

    pub(super) fn input_lock(&self, worker: u32) -> usize {
        self.first_lock + self.workers[worker as usize].model as usize * (1 + self.pipeline_size as usize)
    }

    /// The link between the host and the device of the worker's model copy.
    pub(super) fn link_of(&self, worker: u32) -> usize {
        FIRST_LINK + self.devices[self.workers[worker as usize].model as usize] as usize
    }

    pub(super) fn core(&self, worker: u32, stage: u32) -> usize {
        self.input_lock(worker) + 1 + stage as usize
    }
}
