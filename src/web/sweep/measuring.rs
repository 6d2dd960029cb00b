//! Configurations that are measured on this processor, one after another, a worker for each copy of the model.

use yew::Callback;

use super::cpu::{CpuRow, MOST_COPIES, failed_copy};
use super::lane::{Lane, Running};
use super::runner::{Sweep, SweepRunner};
use crate::bench::cpu::{CpuTimers, side_by_side};
use crate::bench::{Configuration, Processes, RowResult};
use crate::session::{JobRequest, JobResult, Told};
use crate::web::worker::Engine;

impl SweepRunner {
    /// Begins to measure the next configuration, unless one is measured; whether the one after it may be looked at.
    pub(super) fn measure_next(&self, sweep: &Sweep) -> bool {
        if self.0.core.borrow().cpu.is_some() {
            return false;
        }
        let Some((row, configuration)) = sweep.borrow_mut().begin_next() else { return false };
        match self.lanes_for_copies(side_by_side(&configuration).0, configuration.options.processes == Processes::Fresh)
        {
            Ok(engines) => self.measure(row, &configuration, engines),
            Err(message) => {
                self.take(row, RowResult::failed(&configuration, message));
            }
        }
        true
    }

    /// A worker for each copy; `is_fresh` starts new ones for this configuration.
    pub(super) fn lanes_for_copies(&self, copies: u32, is_fresh: bool) -> Result<Vec<Engine>, String> {
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

    pub(super) fn measure(&self, row: u32, configuration: &Configuration, engines: Vec<Engine>) {
        self.0.core.borrow_mut().cpu = Some(CpuRow::new(row, configuration.clone()));
        for (copy, engine) in (0..).zip(engines) {
            let (runner, at) = (self.clone(), engine.clone());
            let on_told = Callback::from(move |told| runner.on_copy(&at, row, copy, told));
            let configuration = Box::new(side_by_side(configuration).1);
            let job = engine.send(JobRequest::MeasureCpu { copy, configuration }, None, on_told);
            if engine.is_alive()
                && let Some(lane) = self.0.core.borrow_mut().lanes.iter_mut().find(|l| l.engine == engine)
            {
                lane.running = Some(Running::new(row, job));
            }
        }
    }

    pub(super) fn on_copy(&self, engine: &Engine, row: u32, copy: u32, told: Told) {
        match told {
            Told::Progress { done, total, .. } => self.share(engine, row, done, total),
            Told::Done(JobResult::CpuTimers { timers, .. }) => self.take_copy(engine, row, copy, *timers),
            Told::Failed(message) => self.take_copy(engine, row, copy, failed_copy(message)),
            Told::Cancelled => self.take_copy(engine, row, copy, failed_copy("stopped when asked".to_owned())),
            _ => {}
        }
        self.show_later();
    }

    pub(super) fn take_copy(&self, engine: &Engine, row: u32, copy: u32, mut timers: CpuTimers) {
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
}
