//! One worker of the pool and the configuration it is at.

use crate::session::JobId;
use crate::web::worker::Engine;

/// One worker of the pool.
pub struct Lane {
    /// The worker.
    pub engine: Engine,
    /// What it is at.
    pub running: Option<Running>,
}

/// A configuration in progress.
pub struct Running {
    /// Its position in the sweep.
    pub row: u32,
    /// The request.
    pub job: JobId,
    /// How far it is, 0 to 1.
    pub share: f64,
    /// Its worker said that it rests.
    pub is_resting: bool,
    /// The stage times that its worker is working out, by [`times_key`](crate::bench::Configuration::times_key).
    pub works_out: Option<u64>,
}

impl Running {
    /// A configuration that was just handed out.
    pub const fn new(row: u32, job: JobId) -> Self {
        Self { row, job, share: 0.0, is_resting: false, works_out: None }
    }
}

impl Lane {
    /// Whether it can take a configuration.
    pub fn is_free(&self) -> bool {
        self.running.is_none() && self.engine.is_alive()
    }
}
