//! The meaning of workers' messages for a sweep.

use super::dispatch::{Dispatch, WorkerSweep};
use super::lane::{Running, Worker};
use super::on_processor::CpuRow;
use ns_base::convert::u64_to_f64;
use ns_bench::RowResult;
use ns_session::Message;

/// The action that a message calls for.
#[derive(Debug)]
pub enum NextAction<R = RowResult> {
    /// The page shows it; no other step is needed.
    Taken,
    /// A row no longer has to wait: the next step has changed.
    GoOn,
    /// The user gets this note.
    Note(String),
    /// A row has ended.
    Row(Box<R>),
    /// All copies of a measurement have ended.
    Measured(Box<CpuRow>),
    /// A message that does not answer the request.
    Unexpected(&'static str),
}

impl<W: Worker, K: WorkerSweep> Dispatch<W, K> {
    /// Takes a message that means the same for every kind of row, or gives it back.
    pub(super) fn hear_any(
        &mut self,
        worker: &W,
        row: u32,
        item: &K::Item,
        message: Message,
    ) -> Result<NextAction<K::Result>, Box<Message>> {
        Ok(match message {
            Message::Progress { done, total, label } => {
                self.doing = label;
                self.share(worker, row, done, total)
            }
            Message::Note(message) => self.note(message),
            Message::Paused => {
                self.with_running(worker, row, |running| running.is_resting = true);
                NextAction::Taken
            }
            // The worker has ended, which need not be the row's fault: another one tries it once more.
            Message::Failed(_) if !worker.is_alive() && self.attempts(row) < 2 => {
                self.free(worker, row);
                if let Some(sweep) = self.sweep_mut() {
                    sweep.give_back(row);
                }
                NextAction::GoOn
            }
            Message::Failed(message) => {
                self.free(worker, row);
                let Some(sweep) = &self.sweep else { return Ok(NextAction::Taken) };
                NextAction::Row(Box::new(K::failed(&sweep.config, item, message)))
            }
            Message::Cancelled => {
                self.free(worker, row);
                if let Some(sweep) = self.sweep_mut() {
                    sweep.give_back(row);
                }
                NextAction::GoOn
            }
            other => return Err(Box::new(other)),
        })
    }

    /// How often a row has begun.
    fn attempts(&self, row: u32) -> u32 {
        let rows = self.sweep.as_ref().map(|sweep| sweep.rows());
        rows.and_then(|rows| rows.get(row as usize)).map_or(0, |row| row.attempts)
    }

    pub(super) fn note(&mut self, message: String) -> NextAction<K::Result> {
        let is_new = self.sweep_mut().is_some_and(|sweep| sweep.note(&message));
        if is_new { NextAction::Note(message) } else { NextAction::Taken }
    }

    pub(super) fn share(&mut self, worker: &W, row: u32, done: u64, total: u64) -> NextAction<K::Result> {
        self.with_running(worker, row, |running| running.share = u64_to_f64(done) / u64_to_f64(total.max(1)));
        NextAction::Taken
    }

    pub(super) fn with_running(&mut self, worker: &W, row: u32, change: impl FnOnce(&mut Running)) {
        let running = self.lane_of(worker).and_then(|lane| lane.running.as_mut());
        if let Some(running) = running.filter(|r| r.row == row) {
            change(running);
        }
    }

    pub(super) fn free(&mut self, worker: &W, row: u32) {
        for lane in self.lanes.iter_mut().filter(|l| l.worker == *worker) {
            if lane.running.is_some_and(|r| r.row == row) {
                lane.running = None;
            }
        }
    }
}
