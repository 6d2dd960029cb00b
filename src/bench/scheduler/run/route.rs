//! The route of an inference: stage after stage, each on its resource. Resources are shared by workers: the host, an interpreter, links
//! of devices, input locks and NeuronCores, each first come, first served.

use super::{Scheduler, Worker};
use crate::config::configuration::Configuration;
use crate::run::error::RunError;
use crate::scheduler::executor::{Executor, Stage};
use crate::scheduler::observer::RunObserver;
use crate::scheduler::source::{Ended, Next};
use ns_base::{Interval, SimTime};

/// What a stage uses.
#[derive(Clone, Copy)]
enum Resource {
    /// The worker's own thread.
    Thread,
    /// The worker's own thread; in a shared process, the interpreter of all copies.
    Interpreter,
    /// The lock around the inputs of a copy; in a shared process, the interpreter.
    InputLock,
    /// The shared host resource.
    Host,
    /// The link to the device of the copy.
    Link,
}

/// The stages before a NeuronCore is taken. On the core follow [`Stage::Transfer`] and [`Stage::Device`], and after it
/// [`Stage::Postprocess`].
const ROUTE: [(Stage, Resource); 5] = [
    (Stage::Input, Resource::InputLock),
    (Stage::Preprocess, Resource::Interpreter),
    (Stage::Call, Resource::Thread),
    (Stage::Host, Resource::Host),
    (Stage::Link, Resource::Link),
];

const HOST: usize = 0;
const INTERPRETER: usize = 1;
/// Links of devices follow, then for each copy its input lock and its NeuronCores.
const FIRST_LINK: usize = 2;

/// The numbers of the resources.
pub(super) struct Places {
    pipeline_size: u32,
    /// The device of each model copy.
    devices: Box<[u32]>,
    first_lock: usize,
    shared_process: bool,
}

impl Places {
    pub(super) fn of(configuration: &Configuration) -> Self {
        Self {
            pipeline_size: configuration.pipeline_size.max(1),
            devices: (0..configuration.n_models).map(|model| configuration.device_of(model)).collect(),
            first_lock: FIRST_LINK + configuration.links() as usize,
            shared_process: !configuration.options.is_multiprocess(),
        }
    }

    /// How many resources there are.
    pub(super) fn count(&self) -> usize {
        self.input_lock(self.devices.len())
    }

    fn input_lock(&self, model: usize) -> usize {
        self.first_lock + model * (1 + self.pipeline_size as usize)
    }

    fn core(&self, worker: &Worker, stage: u32) -> usize {
        self.input_lock(worker.model as usize) + 1 + stage as usize
    }

    /// The number of a resource; `None` if the worker shares it with no other.
    fn number(&self, resource: Resource, worker: &Worker) -> Option<usize> {
        match resource {
            Resource::Host => Some(HOST),
            Resource::Interpreter | Resource::InputLock if self.shared_process => Some(INTERPRETER),
            Resource::Interpreter | Resource::Thread => None,
            Resource::InputLock => Some(self.input_lock(worker.model as usize)),
            Resource::Link => Some(FIRST_LINK + self.devices[worker.model as usize] as usize),
        }
    }
}

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    /// The next inference, a wait for one, or the end of the worker if there are no more inferences.
    pub(super) fn begin_inference(&mut self, worker: u32) {
        let model = self.workers[worker as usize].model;
        match self.source.next(self.now, model) {
            Next::Begin(asked) => {
                self.workers[worker as usize].begun = asked;
                self.advance(worker, 0);
            }
            Next::At(asked) => {
                self.workers[worker as usize].begun = asked;
                self.begin(worker, None, asked - self.now);
            }
            Next::Wait => self.idle.push(worker),
            Next::Stop => {
                self.running -= 1;
                self.measurement.timers.worker[worker as usize].add(SimTime(self.now));
            }
        }
    }

    pub(super) fn end_of_stage(&mut self, worker: u32) -> Result<(), RunError> {
        let w = &self.workers[worker as usize];
        let Some(stage) = w.stage else {
            self.advance(worker, 0);
            return Ok(());
        };
        if O::LISTENS {
            self.observer.stage(worker, stage, Interval::new(SimTime(w.since), SimTime(self.now)));
        }
        match stage {
            Stage::Transfer => {
                self.release(Resource::Host, worker);
                self.compute(worker, 0);
            }
            Stage::Device(stage) => {
                self.release_core(worker, stage);
                if stage + 1 < self.places.pipeline_size {
                    self.take_core(worker, stage + 1);
                } else {
                    return self.postprocess(worker);
                }
            }
            Stage::Postprocess => {
                self.release(Resource::Interpreter, worker);
                return self.record(worker);
            }
            _ => {
                if let Some(at) = ROUTE.iter().position(|(of_route, _)| *of_route == stage) {
                    self.release(ROUTE[at].1, worker);
                    self.advance(worker, at + 1);
                }
            }
        }
        Ok(())
    }

    /// Goes on with the stage of [`ROUTE`] at a position, or with the first one after it that takes time, and then to the core.
    fn advance(&mut self, worker: u32, at: usize) {
        for &(stage, resource) in &ROUTE[at..] {
            let time = self.executor.stage_time(worker, stage);
            let w = &mut self.workers[worker as usize];
            match stage {
                Stage::Preprocess => {
                    self.measurement.timers.input[w.model as usize].add(SimTime(self.now - w.begun));
                    self.measurement.timers.preprocess[worker as usize].add(time);
                }
                Stage::Call => w.called = self.now,
                _ => {}
            }
            if time != SimTime::ZERO {
                return self.serve(resource, worker, stage, time);
            }
        }
        self.take_core(worker, 0);
    }

    fn take_core(&mut self, worker: u32, stage: u32) {
        let w = &mut self.workers[worker as usize];
        w.stage = Some(Stage::Device(stage));
        if self.resources.acquire(self.places.core(w, stage), worker) {
            self.on_core(worker, stage);
        }
    }

    fn release_core(&mut self, worker: u32, stage: u32) {
        let core = self.places.core(&self.workers[worker as usize], stage);
        if let Some(next) = self.resources.release(core) {
            self.on_core(next, stage);
        }
    }

    fn on_core(&mut self, worker: u32, stage: u32) {
        if stage == 0 {
            let time = self.executor.stage_time(worker, Stage::Transfer);
            if time != SimTime::ZERO {
                return self.serve(Resource::Host, worker, Stage::Transfer, time);
            }
        }
        self.compute(worker, stage);
    }

    /// Always schedules an event, even for a stage of zero length: this bounds the recursion.
    fn compute(&mut self, worker: u32, stage: u32) {
        let time = self.executor.stage_time(worker, Stage::Device(stage));
        self.begin(worker, Some(Stage::Device(stage)), time.0);
    }

    fn postprocess(&mut self, worker: u32) -> Result<(), RunError> {
        let time = self.executor.stage_time(worker, Stage::Postprocess);
        let called = self.workers[worker as usize].called;
        self.measurement.timers.infer[worker as usize].add(SimTime(self.now - called));
        self.measurement.timers.postprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            return self.record(worker);
        }
        self.serve(Resource::Interpreter, worker, Stage::Postprocess, time);
        Ok(())
    }

    fn record(&mut self, worker: u32) -> Result<(), RunError> {
        let begun = SimTime(self.workers[worker as usize].begun);
        let (now, latency) = (SimTime(self.now), SimTime(self.now) - begun);
        if latency == SimTime::ZERO {
            return Err(RunError::ZeroLatency { worker });
        }
        self.measurement.timers.e2e[worker as usize].add(latency);
        if O::LISTENS {
            self.observer.inference(worker, Interval::new(begun, now));
        }
        match self.source.ended(self.now) {
            Ended::Inference => self.measurement.record(now, latency)?,
            Ended::Part => {}
            Ended::Query(asked) => {
                self.measurement.record(now, now - SimTime(asked))?;
                for waiting in std::mem::take(&mut self.idle) {
                    self.begin_inference(waiting);
                }
            }
        }
        self.begin_inference(worker);
        Ok(())
    }

    /// Uses a resource for `time`, now or when it is this worker's turn.
    fn serve(&mut self, resource: Resource, worker: u32, stage: Stage, time: SimTime) {
        let w = &mut self.workers[worker as usize];
        let number = self.places.number(resource, w);
        if number.is_none_or(|number| self.resources.acquire(number, worker)) {
            self.begin(worker, Some(stage), time.0);
        } else {
            (w.stage, w.pending) = (Some(stage), time.0);
        }
    }

    /// Hands a resource on; the worker that waited begins its stage.
    fn release(&mut self, resource: Resource, worker: u32) {
        let number = self.places.number(resource, &self.workers[worker as usize]);
        if let Some(next) = number.and_then(|number| self.resources.release(number)) {
            let w = &self.workers[next as usize];
            self.begin(next, w.stage, w.pending);
        }
    }

    fn begin(&mut self, worker: u32, stage: Option<Stage>, time: u64) {
        let w = &mut self.workers[worker as usize];
        w.stage = stage;
        if O::LISTENS {
            w.since = self.now;
        }
        self.events.schedule(self.now.saturating_add(time), worker);
    }
}
