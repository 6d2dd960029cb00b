//! Configurations that are measured on this processor, one after another, a worker for each copy of the model.

use yew::Callback;

use super::runner::Runner;
use crate::platform::machine;
use ns_bench::cpu::{Machine, side_by_side};
use ns_bench::{Benchmarks, RowResult};
use ns_page::sweep::{CpuRow, Measurement};
use ns_session::JobRequest;

impl Runner<Benchmarks> {
    /// Starts to measure a configuration; it fails if there is no worker for each copy.
    pub(super) fn measure(&self, measurement: &Measurement) {
        if let Err(message) = self.start_copies(measurement) {
            return self.take(measurement.row, RowResult::failed(&measurement.configuration, message));
        }
        let workers = self.0.core.borrow_mut().run.measure(measurement, machine::unix_s());
        let row = measurement.row;
        for (copy, engine) in (0..).zip(workers) {
            let (runner, at) = (self.clone(), engine.clone());
            let on_message = Callback::from(move |message| {
                let heard = runner.0.core.borrow_mut().run.hear_copy(&at, row, copy, message);
                runner.act(row, heard);
            });
            let configuration = Box::new(side_by_side(&measurement.configuration).1);
            let job = engine.send(JobRequest::MeasureCpu { copy, configuration }, None, on_message);
            if engine.is_alive() {
                self.0.core.borrow_mut().run.sent_row(&engine, row, job);
            }
        }
    }

    /// Starts workers until each copy has one.
    fn start_copies(&self, measurement: &Measurement) -> Result<(), String> {
        self.0.core.borrow_mut().run.make_room(measurement)?;
        while !self.0.core.borrow().run.has_room(measurement) {
            let is_only = self.0.core.borrow().run.is_empty() && !measurement.is_fresh();
            let engine = self.worker(is_only)?;
            self.0.core.borrow_mut().run.add(engine);
        }
        Ok(())
    }

    /// Takes the row of a configuration whose copies have all ended.
    pub(super) fn take_measured(&self, cpu: CpuRow) {
        let machine = Machine {
            name: machine::name(),
            description: machine::description(),
            began_unix_s: cpu.began_unix_s(),
            ended_unix_s: machine::unix_s(),
        };
        self.take(cpu.row, cpu.finish(&machine));
    }
}
