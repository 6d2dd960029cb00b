//! What only a shell has, as traits with a stand-in each: a clock, and a wish to stop.

use std::cell::Cell;

use super::WallNs;

/// Measured time. The core never reads one by itself: what it measures is handed a clock and labelled as measured.
pub trait Clock {
    /// Nanoseconds since an origin of the clock's choosing; never goes back.
    fn now(&self) -> WallNs;
    /// The smallest step the clock shows, in nanoseconds (100,000 in a page that is not cross-origin isolated).
    fn resolution_ns(&self) -> u64;
}

/// A clock that moves when told to.
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

/// Asked between steps of anything long: should it stop?
pub trait Cancel {
    /// Whether the person asked for it to stop.
    fn is_cancelled(&self) -> bool;
}

/// Never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct NeverCancel;

impl Cancel for NeverCancel {
    fn is_cancelled(&self) -> bool {
        false
    }
}
