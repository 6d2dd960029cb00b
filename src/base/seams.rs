//! Interfaces that only a shell can implement, each with a substitute: a clock, and a request to stop.

use std::cell::Cell;

use super::WallNs;

/// Measured time. The core never reads a clock by itself: code that measures is given a clock, and its results are
/// labelled as measured.
pub trait Clock {
    /// Nanoseconds since an origin that the clock chooses; never decreases.
    fn now(&self) -> WallNs;
    /// The smallest step of the clock, in nanoseconds (100,000 in a page that is not cross-origin isolated).
    fn resolution_ns(&self) -> u64;
}

/// A clock that only moves when told to.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: Cell<u64>,
}

impl ManualClock {
    /// Moves the clock forward.
    pub fn advance_ns(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> WallNs {
        WallNs(self.now_ns.get())
    }
    fn resolution_ns(&self) -> u64 {
        1
    }
}

/// Tells a long computation, between its steps, whether to stop.
pub trait Cancel {
    /// Whether the user asked to stop.
    fn is_cancelled(&self) -> bool;
}

/// A stop request that is never set.
#[derive(Clone, Copy, Debug, Default)]
pub struct NeverCancel;

impl Cancel for NeverCancel {
    fn is_cancelled(&self) -> bool {
        false
    }
}
