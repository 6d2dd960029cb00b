//! A configuration that is measured on this processor: one worker for each copy of the model, or one for
//! all, and nothing beside it.

use crate::bench::cpu::{CpuTimers, HostSamples, Machine, cpu_row, side_by_side};
use crate::bench::{Configuration, RowResult, RunDetail};

/// More copies than this are no measurement of a model but of a machine that runs out of everything.
pub const MOST_COPIES: u32 = 64;

/// A configuration in progress.
#[derive(Clone, Debug)]
pub struct CpuRow {
    /// Its position in the sweep.
    pub row: u32,
    configuration: Configuration,
    copies: Vec<Option<CpuTimers>>,
    began_unix_s: u64,
}

impl CpuRow {
    /// A configuration whose copies all run since a moment, in seconds since 1970.
    #[must_use]
    pub fn new(row: u32, configuration: Configuration, began_unix_s: u64) -> Self {
        let copies = vec![None; side_by_side(&configuration).0 as usize];
        Self { row, configuration, copies, began_unix_s }
    }

    /// Takes what a copy measured; whether that was the last one.
    pub fn take(&mut self, copy: u32, timers: CpuTimers) -> bool {
        if let Some(slot) = self.copies.get_mut(copy as usize) {
            *slot = Some(timers);
        }
        self.copies.iter().all(Option::is_some)
    }

    /// When its copies began, seconds since 1970.
    #[must_use]
    pub const fn began_unix_s(&self) -> u64 {
        self.began_unix_s
    }

    /// The row of all copies together, measured on a machine.
    #[must_use]
    pub fn finish(self, machine: &Machine) -> RowResult {
        let copies: Vec<CpuTimers> = self.copies.into_iter().flatten().collect();
        let detail = RunDetail { charts: true, ..RunDetail::default() };
        cpu_row(&self.configuration, &copies, &HostSamples::default(), machine, detail)
    }
}

/// The times of a copy that ended with this message.
pub(super) fn failed_copy(message: String) -> CpuTimers {
    CpuTimers { error: Some(message), ..CpuTimers::default() }
}
