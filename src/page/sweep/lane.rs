//! A worker that takes configurations, and the one it runs.

use ns_session::JobId;

/// A shell's handle of a worker.
pub trait Worker: Clone + PartialEq {
    /// Whether it still answers.
    fn is_alive(&self) -> bool;
}

/// One worker.
#[derive(Clone, Debug)]
pub struct Lane<W> {
    pub worker: W,
    /// The configuration that it runs.
    pub running: Option<Running>,
}

/// A configuration in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// Its position in the sweep.
    pub row: u32,
    pub job: JobId,
    /// Its progress, 0 to 1.
    pub share: f64,
    /// Whether its worker has reported that it is paused.
    pub is_resting: bool,
    /// Key of the stage times that its worker is computing ([`times_key`](ns_bench::Configuration::times_key)).
    pub works_out: Option<u64>,
}

impl Running {
    /// A configuration that was just handed out.
    pub const fn new(row: u32, job: JobId) -> Self {
        Self { row, job, share: 0.0, is_resting: false, works_out: None }
    }
}

impl<W: Worker> Lane<W> {
    /// Whether it can take a configuration.
    pub fn is_free(&self) -> bool {
        self.running.is_none() && self.worker.is_alive()
    }
}
