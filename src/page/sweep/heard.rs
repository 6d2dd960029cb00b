//! The meaning of workers' messages for a sweep.

use super::dispatch::Dispatch;
use super::lane::{Running, Worker};
use super::measured::{CpuRow, failed_copy};
use crate::replies::kind_of;
use ns_base::convert::u64_to_f64;
use ns_bench::cpu::CpuTimers;
use ns_bench::{Configuration, RowResult, ServiceTimes};
use ns_session::{JobResult, Message, ResultPart};

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
    pub fn hear(&mut self, worker: &W, row: u32, configuration: &Configuration, message: Message) -> Heard {
        match message {
            Message::Progress { done, total, label } => {
                self.doing = label;
                self.share(worker, row, done, total)
            }
            Message::Note(message) => self.note(message),
            Message::Part(ResultPart::Times { times, .. }) => {
                self.with_running(worker, row, |running| running.works_out = None);
                self.learn(configuration.times_key(), *times);
                Heard::GoOn
            }
            Message::Paused => {
                self.with_running(worker, row, |running| running.is_resting = true);
                Heard::Taken
            }
            Message::Done(JobResult::Mlperf(result)) => {
                self.free(worker, row);
                Heard::Row(Box::new(RowResult::of_scenario(configuration, result)))
            }
            Message::Done(JobResult::Row { result, .. }) => {
                self.free(worker, row);
                Heard::Row(result)
            }
            Message::Failed(message) => {
                self.free(worker, row);
                Heard::Row(Box::new(RowResult::failed(configuration, message)))
            }
            Message::Cancelled => {
                self.free(worker, row);
                if let Some(sweep) = self.sweep_mut() {
                    sweep.give_back(row);
                }
                Heard::GoOn
            }
            message @ (Message::Part(_) | Message::Done(_) | Message::Answer(_) | Message::File(_)) => {
                Heard::Unexpected(kind_of(&message))
            }
        }
    }

    /// Takes a worker's message about a copy that it measures.
    pub fn hear_copy(&mut self, worker: &W, row: u32, copy: u32, message: Message) -> Heard {
        match message {
            Message::Progress { done, total, .. } => self.share(worker, row, done, total),
            Message::Done(JobResult::CpuTimers { timers, .. }) => self.take_copy(worker, row, copy, *timers),
            Message::Failed(message) => self.take_copy(worker, row, copy, failed_copy(message)),
            Message::Cancelled => self.take_copy(worker, row, copy, failed_copy("stopped when asked".to_owned())),
            // A measurement can neither pause nor send notes.
            Message::Note(_) | Message::Paused => Heard::Taken,
            message @ (Message::Part(_) | Message::Done(_) | Message::Answer(_) | Message::File(_)) => {
                Heard::Unexpected(kind_of(&message))
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
