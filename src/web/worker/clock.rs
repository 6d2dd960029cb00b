//! The clock of a worker.

use std::cell::Cell;

use web_sys::DedicatedWorkerGlobalScope;

use ns_base::convert::f64_to_u64;
use ns_base::{Clock, WallNs};

/// The most readings of the clock until its first step is seen; browsers have steps of 5 us, 100 us or 1 ms.
const MOST_LOOKS: u32 = 2_000_000;

/// `performance.now()` of a worker.
pub struct WorkerClock {
    scope: DedicatedWorkerGlobalScope,
    /// Found out at the first request.
    resolution_ns: Cell<Option<u64>>,
}

impl WorkerClock {
    /// The clock of this worker.
    pub fn new(scope: DedicatedWorkerGlobalScope) -> Self {
        Self { scope, resolution_ns: Cell::new(None) }
    }

    /// The smallest of several observed steps of the clock.
    fn smallest_step(&self) -> u64 {
        let (mut smallest, mut last, mut seen) = (u64::MAX, self.now().0, 0);
        for _ in 0..MOST_LOOKS {
            let now = self.now().0;
            if now > last {
                smallest = smallest.min(now - last);
                (last, seen) = (now, seen + 1);
            }
            if seen == 10 {
                break;
            }
        }
        if smallest == u64::MAX { 1_000_000 } else { smallest }
    }
}

impl Clock for WorkerClock {
    fn now(&self) -> WallNs {
        let ms = self.scope.performance().map_or(0.0, |p| p.now());
        // A cast of a float saturates; the clock begins at zero with the worker.
        WallNs(f64_to_u64(ms * 1e6))
    }

    fn resolution_ns(&self) -> u64 {
        let known = self.resolution_ns.get().unwrap_or_else(|| self.smallest_step());
        self.resolution_ns.set(Some(known));
        known
    }
}
