//! The meaning of workers' messages for a sweep.

use super::dispatch::Dispatch;
use super::lane::{Running, Worker};
use super::measured::{CpuRow, failed_copy};
use crate::told::kind_of;
use ns_base::convert::u64_to_f64;
use ns_bench::cpu::CpuTimers;
use ns_bench::{Configuration, RowResult, ServiceTimes};
use ns_session::{JobResult, Part, Told};

/// The action that a message calls for.
#[derive(Debug)]
pub enum Heard {
    /// The page shows it; no other step is needed.
    Taken,
    /// A configuration no longer has to wait: the next step has changed.
    GoOn,
    /// The user gets this note.
    Note(String),
    /// A row has ended.
    Row(Box<RowResult>),
    /// All copies of a measurement have ended.
    Measured(Box<CpuRow>),
    /// A message that does not answer the request.
    Unexpected(&'static str),
}

impl<W: Worker> Dispatch<W> {
    /// Takes a worker's message about a configuration that it runs.
    pub fn hear(&mut self, worker: &W, row: u32, configuration: &Configuration, told: Told) -> Heard {
        match told {
            Told::Progress { done, total, label } => {
                self.doing = label;
                self.share(worker, row, done, total)
            }
            Told::Note(message) => self.note(message),
            Told::Part(Part::Times { times, .. }) => {
                self.with_running(worker, row, |running| running.works_out = None);
                self.learn(configuration.times_key(), *times);
                Heard::GoOn
            }
            Told::Paused => {
                self.with_running(worker, row, |running| running.is_resting = true);
                Heard::Taken
            }
            Told::Done(JobResult::Mlperf(result)) => {
                self.free(worker, row);
                Heard::Row(Box::new(RowResult::of_scenario(configuration, result)))
            }
            Told::Done(JobResult::Row { result, .. }) => {
                self.free(worker, row);
                Heard::Row(result)
            }
            Told::Failed(message) => {
                self.free(worker, row);
                Heard::Row(Box::new(RowResult::failed(configuration, message)))
            }
            Told::Cancelled => {
                self.free(worker, row);
                if let Some(sweep) = self.sweep_mut() {
                    sweep.give_back(row);
                }
                Heard::GoOn
            }
            told @ (Told::Part(_) | Told::Done(_) | Told::Answer(_) | Told::File(_)) => {
                Heard::Unexpected(kind_of(&told))
            }
        }
    }

    /// Takes a worker's message about a copy that it measures.
    pub fn hear_copy(&mut self, worker: &W, row: u32, copy: u32, told: Told) -> Heard {
        match told {
            Told::Progress { done, total, .. } => self.share(worker, row, done, total),
            Told::Done(JobResult::CpuTimers { timers, .. }) => self.take_copy(worker, row, copy, *timers),
            Told::Failed(message) => self.take_copy(worker, row, copy, failed_copy(message)),
            Told::Cancelled => self.take_copy(worker, row, copy, failed_copy("stopped when asked".to_owned())),
            // A measurement can neither pause nor send notes.
            Told::Note(_) | Told::Paused => Heard::Taken,
            told @ (Told::Part(_) | Told::Done(_) | Told::Answer(_) | Told::File(_)) => {
                Heard::Unexpected(kind_of(&told))
            }
        }
    }

    /// Takes stage times that a worker has computed.
    pub fn learn(&mut self, key: u64, times: ServiceTimes) {
        self.times.insert(key, times);
    }

    fn note(&mut self, message: String) -> Heard {
        let is_new = self.sweep_mut().is_some_and(|sweep| sweep.note(&message));
        if is_new { Heard::Note(message) } else { Heard::Taken }
    }

    fn share(&mut self, worker: &W, row: u32, done: u64, total: u64) -> Heard {
        self.with_running(worker, row, |running| running.share = u64_to_f64(done) / u64_to_f64(total.max(1)));
        Heard::Taken
    }

    fn with_running(&mut self, worker: &W, row: u32, change: impl FnOnce(&mut Running)) {
        let running = self.lane_of(worker).and_then(|lane| lane.running.as_mut());
        if let Some(running) = running.filter(|r| r.row == row) {
            change(running);
        }
    }

    fn free(&mut self, worker: &W, row: u32) {
        for lane in self.lanes.iter_mut().filter(|l| l.worker == *worker) {
            if lane.running.is_some_and(|r| r.row == row) {
                lane.running = None;
            }
        }
    }

    fn take_copy(&mut self, worker: &W, row: u32, copy: u32, mut timers: CpuTimers) -> Heard {
        self.free(worker, row);
        // A measurement that was cut off did not last the requested duration.
        if self.is_cancelled && timers.error.is_none() {
            timers.error = Some("stopped when asked".to_owned());
        }
        let is_last = self.cpu.as_mut().is_some_and(|cpu| cpu.row == row && cpu.take(copy, timers));
        match self.cpu.take_if(|_| is_last) {
            Some(cpu) => Heard::Measured(Box::new(cpu)),
            None => Heard::Taken,
        }
    }
}
