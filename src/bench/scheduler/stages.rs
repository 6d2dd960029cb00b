//! Moves an inference from stage to stage.

use crate::scheduler::executor::{Executor, Stage};
use crate::scheduler::observer::RunObserver;
use crate::scheduler::source::{InferenceEnd, Next};
use ns_base::{Refusal, SimTime, refuse};

use super::resources::PATH;
use super::run::Scheduler;

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    pub(super) fn end_of_stage(&mut self, worker: u32) -> Result<(), Refusal> {
        let stage = self.workers.stage(worker);
        if O::LISTENS
            && let Some(stage) = stage
        {
            self.observer.stage(worker, stage, self.workers.stage_span(worker));
        }
        let model = self.workers.model(worker);
        match stage {
            None => self.fetch_input(worker),
            Some(Stage::Input) => {
                self.workers.unlock(self.places.input(model));
                self.preprocess(worker);
            }
            Some(Stage::Preprocess) => {
                self.end_interpreting();
                self.call(worker);
            }
            Some(Stage::Record) => {
                self.workers.unlock(self.places.tracing(model));
                self.make_call(worker);
            }
            Some(Stage::Call) => {
                self.workers.leave_core();
                self.host(worker);
            }
            Some(Stage::Host) => {
                self.workers.release(PATH);
                self.link(worker);
            }
            Some(Stage::Link) => {
                self.workers.release(self.places.link(model));
                self.take_core(worker, 0);
            }
            Some(Stage::Transfer) => {
                self.workers.release(PATH);
                self.compute(worker, 0);
            }
            Some(Stage::Device(stage)) => {
                if let Some(next) = self.workers.hand_on(self.places.core(model, stage)) {
                    self.on_core(next, stage);
                }
                if self.places.is_last(stage) {
                    return self.postprocess(worker);
                }
                self.take_core(worker, stage + 1);
            }
            Some(Stage::Postprocess) => {
                self.end_interpreting();
                return self.record(worker);
            }
        }
        Ok(())
    }

    /// The next inference, a wait for one, or the end of the worker if there are no more inferences.
    pub(super) fn begin_inference(&mut self, worker: u32) {
        let now = self.workers.now();
        match self.source.next(now.0, self.workers.model(worker)) {
            Next::Begin(asked) => {
                self.workers.ask(worker, asked);
                self.fetch_input(worker);
            }
            Next::At(asked) => {
                self.workers.ask(worker, asked);
                self.workers.begin(worker, None, SimTime(asked - now.0));
            }
            Next::Wait => self.workers.rest(worker),
            Next::Stop => {
                self.workers.stop();
                self.measurement.timers.worker[worker as usize].add(now);
            }
        }
    }

    fn fetch_input(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Input);
        if time == SimTime::ZERO {
            self.preprocess(worker);
        } else {
            let place = self.places.input(self.workers.model(worker));
            self.workers.work_locked(place, worker, Stage::Input, time);
        }
    }

    fn preprocess(&mut self, worker: u32) {
        let model = self.workers.model(worker) as usize;
        self.measurement.timers.input[model].add(self.workers.inference_time(worker));
        let time = self.executor.stage_time(worker, Stage::Preprocess);
        self.measurement.timers.preprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            self.call(worker);
        } else {
            self.interpret(worker, Stage::Preprocess, time);
        }
    }

    fn call(&mut self, worker: u32) {
        self.workers.call(worker);
        let time = self.executor.stage_time(worker, Stage::Record);
        if time == SimTime::ZERO {
            self.make_call(worker);
        } else {
            let place = self.places.tracing(self.workers.model(worker));
            self.workers.work_locked(place, worker, Stage::Record, time);
        }
    }

    fn make_call(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Call);
        if time == SimTime::ZERO {
            self.host(worker);
        } else {
            self.workers.work(worker, Stage::Call, time);
        }
    }

    fn host(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Host);
        if time == SimTime::ZERO {
            self.link(worker);
        } else {
            self.workers.serve(PATH, worker, Stage::Host, time);
        }
    }

    fn link(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Link);
        if time == SimTime::ZERO {
            self.take_core(worker, 0);
        } else {
            let place = self.places.link(self.workers.model(worker));
            self.workers.serve(place, worker, Stage::Link, time);
        }
    }

    fn take_core(&mut self, worker: u32, stage: u32) {
        let core = self.places.core(self.workers.model(worker), stage);
        if self.workers.take_core(core, worker, stage) {
            self.on_core(worker, stage);
        }
    }

    fn on_core(&mut self, worker: u32, stage: u32) {
        if stage == 0 {
            let time = self.executor.stage_time(worker, Stage::Transfer);
            if time != SimTime::ZERO {
                return self.workers.serve(PATH, worker, Stage::Transfer, time);
            }
        }
        self.compute(worker, stage);
    }

    /// Always schedules an event, even for a stage of zero length: this bounds the recursion.
    fn compute(&mut self, worker: u32, stage: u32) {
        let stage = Stage::Device(stage);
        let time = self.executor.stage_time(worker, stage);
        self.workers.begin(worker, Some(stage), time);
    }

    fn postprocess(&mut self, worker: u32) -> Result<(), Refusal> {
        let time = self.executor.stage_time(worker, Stage::Postprocess);
        self.measurement.timers.infer[worker as usize].add(self.workers.call_time(worker));
        self.measurement.timers.postprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            return self.record(worker);
        }
        self.interpret(worker, Stage::Postprocess, time);
        Ok(())
    }

    /// Work of the worker's own thread: parallel to others, or taking turns in a shared process.
    fn interpret(&mut self, worker: u32, stage: Stage, time: SimTime) {
        match self.places.interpreter() {
            Some(interpreter) => self.workers.work_locked(interpreter, worker, stage, time),
            None => self.workers.work(worker, stage, time),
        }
    }

    fn end_interpreting(&mut self) {
        match self.places.interpreter() {
            Some(interpreter) => self.workers.unlock(interpreter),
            None => self.workers.leave_core(),
        }
    }

    fn record(&mut self, worker: u32) -> Result<(), Refusal> {
        let (now, latency) = (self.workers.now(), self.workers.inference_time(worker));
        if latency == SimTime::ZERO {
            return Err(refuse!(
                "worker {worker} finished an inference in zero time, so the clock would never advance; give at least one stage a time above zero"
            ));
        }
        self.measurement.timers.e2e[worker as usize].add(latency);
        self.measurement.note_end(worker as usize, now);
        if O::LISTENS {
            self.observer.inference(worker, self.workers.inference_span(worker));
        }
        match self.source.ended(now.0) {
            InferenceEnd::Inference => self.measurement.record(now, latency)?,
            InferenceEnd::Part => {}
            InferenceEnd::Query(asked) => {
                self.measurement.record(now, SimTime(now.0 - asked))?;
                for waiting in self.workers.wake() {
                    self.begin_inference(waiting);
                }
            }
        }
        self.begin_inference(worker);
        Ok(())
    }
}
