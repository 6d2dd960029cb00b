//! A configuration that is measured on this processor: one worker for each copy of the model, or one for
//! all; no other work runs at the same time.

use ns_bench::cpu::{CpuTimers, HostSamples, Machine, cpu_row, side_by_side};
use ns_bench::{Configuration, RowResult, RunDetail};

/// The most copies that are measured: with more, the measurement would be of an overloaded machine rather than of the model.
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
    /// A configuration whose copies all started at a time, in seconds since 1970.
    pub fn new(row: u32, configuration: Configuration, began_unix_s: u64) -> Self {
        let copies = vec![None; side_by_side(&configuration).0 as usize];
        Self { row, configuration, copies, began_unix_s }
    }

    /// Takes the measurement of a copy; returns whether that was the last one.
    pub fn take(&mut self, copy: u32, timers: CpuTimers) -> bool {
        if let Some(slot) = self.copies.get_mut(copy as usize) {
            *slot = Some(timers);
        }
        self.copies.iter().all(Option::is_some)
    }

    /// Start of its copies, seconds since 1970.
    pub const fn began_unix_s(&self) -> u64 {
        self.began_unix_s
    }

    /// The row of all copies together, measured on a machine.
    pub fn finish(self, machine: &Machine) -> RowResult {
        let copies: Vec<CpuTimers> = self.copies.into_iter().flatten().collect();
        let detail = RunDetail { charts: true, ..RunDetail::default() };
        cpu_row(&self.configuration, &copies, &HostSamples::default(), machine, detail)
    }
}

/// The times of a copy, from the message that it ended with.
pub(super) fn failed_copy(message: String) -> CpuTimers {
    CpuTimers { error: Some(message), ..CpuTimers::default() }
}
