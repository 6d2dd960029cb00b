//! Moves an inference from stage to stage.

use crate::run::error::RunError;
use crate::scheduler::executor::{Executor, Stage};
use crate::scheduler::observer::RunObserver;
use crate::scheduler::source::{Ended, Next};
use ns_base::{Interval, SimTime};

use super::resources::HOST;
use super::run::Scheduler;

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    fn tell_stage(&mut self, worker: u32) {
        let w = &self.workers[worker as usize];
        if let Some(stage) = w.stage {
            self.observer.stage(worker, stage, Interval::new(SimTime(w.since), SimTime(self.now)));
        }
    }

    pub(super) fn end_of_stage(&mut self, worker: u32) -> Result<(), RunError> {
        if O::LISTENS {
            self.tell_stage(worker);
        }
        match self.workers[worker as usize].stage {
            None => self.fetch_input(worker),
            Some(Stage::Input) => {
                self.release(self.input_resource(worker));
                self.preprocess(worker);
            }
            Some(Stage::Preprocess) => {
                self.leave_interpreter();
                self.call(worker);
            }
            Some(Stage::Call) => self.host(worker),
            Some(Stage::Host) => {
                self.release(HOST);
                self.link(worker);
            }
            Some(Stage::Link) => {
                self.release(self.link_of(worker));
                self.take_core(worker, 0);
            }
            Some(Stage::Transfer) => {
                self.release(HOST);
                self.compute(worker, 0);
            }
            Some(Stage::Device(stage)) => {
                self.release_core(worker, stage);
                if stage + 1 < self.pipeline_size {
                    self.take_core(worker, stage + 1);
                } else {
                    return self.postprocess(worker);
                }
            }
            Some(Stage::Postprocess) => {
                self.leave_interpreter();
                return self.record(worker);
            }
        }
        Ok(())
    }

    /// The next inference, a wait for one, or the end of the worker if there are no more inferences.
    pub(super) fn begin_inference(&mut self, worker: u32) {
        let model = self.workers[worker as usize].model;
        match self.source.next(self.now, model) {
            Next::Begin(asked) => {
                self.workers[worker as usize].begun = asked;
                self.fetch_input(worker);
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

    fn fetch_input(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Input);
        if time == SimTime::ZERO {
            self.preprocess(worker);
        } else {
            self.serve(self.input_resource(worker), worker, Stage::Input, time);
        }
    }

    fn preprocess(&mut self, worker: u32) {
        let w = &self.workers[worker as usize];
        self.measurement.timers.input[w.model as usize].add(SimTime(self.now - w.begun));
        let time = self.executor.stage_time(worker, Stage::Preprocess);
        self.measurement.timers.preprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            self.call(worker);
        } else {
            self.interpret(worker, Stage::Preprocess, time);
        }
    }

    fn call(&mut self, worker: u32) {
        self.workers[worker as usize].called = self.now;
        let time = self.executor.stage_time(worker, Stage::Call);
        if time == SimTime::ZERO {
            self.host(worker);
        } else {
            self.begin(worker, Some(Stage::Call), time.0);
        }
    }

    fn host(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Host);
        if time == SimTime::ZERO {
            self.link(worker);
        } else {
            self.serve(HOST, worker, Stage::Host, time);
        }
    }

    fn link(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Link);
        if time == SimTime::ZERO {
            self.take_core(worker, 0);
        } else {
            self.serve(self.link_of(worker), worker, Stage::Link, time);
        }
    }

    fn take_core(&mut self, worker: u32, stage: u32) {
        self.workers[worker as usize].stage = Some(Stage::Device(stage));
        if self.resources.acquire(self.core(worker, stage), worker) {
            self.on_core(worker, stage);
        }
    }

    fn release_core(&mut self, worker: u32, stage: u32) {
        if let Some(next) = self.resources.release(self.core(worker, stage)) {
            self.on_core(next, stage);
        }
    }

    fn on_core(&mut self, worker: u32, stage: u32) {
        if stage == 0 {
            let time = self.executor.stage_time(worker, Stage::Transfer);
            if time != SimTime::ZERO {
                return self.serve(HOST, worker, Stage::Transfer, time);
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
        self.interpret(worker, Stage::Postprocess, time);
        Ok(())
    }

    fn record(&mut self, worker: u32) -> Result<(), RunError> {
        let latency = SimTime(self.now - self.workers[worker as usize].begun);
        if latency == SimTime::ZERO {
            return Err(RunError::ZeroLatency { worker });
        }
        self.measurement.timers.e2e[worker as usize].add(latency);
        if O::LISTENS {
            let begun = SimTime(self.workers[worker as usize].begun);
            self.observer.inference(worker, Interval::new(begun, SimTime(self.now)));
        }
        match self.source.ended(self.now) {
            Ended::Inference => self.measurement.record(SimTime(self.now), latency)?,
            Ended::Part => {}
            Ended::Query(asked) => {
                self.measurement.record(SimTime(self.now), SimTime(self.now - asked))?;
                for waiting in std::mem::take(&mut self.idle) {
                    self.begin_inference(waiting);
                }
            }
        }
        self.begin_inference(worker);
        Ok(())
    }
}
