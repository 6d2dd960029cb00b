//! What only a shell has, as traits with a test double each: a clock, a pool of isolated workers, a store.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use thiserror::Error;

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

/// Runs isolated units (a sweep configuration, a model copy). The order in which results come back must not matter
/// to the caller: a result carries the number of its unit.
pub trait Pool<Unit, Outcome> {
    /// Runs every unit; `done` is called once for each with the unit's position.
    fn run(&mut self, units: Vec<Unit>, done: &mut dyn FnMut(usize, Outcome));
}

/// Runs units one after another on the caller's own thread.
pub struct SerialPool<F>(pub F);

impl<Unit, Outcome, F: FnMut(Unit) -> Outcome> Pool<Unit, Outcome> for SerialPool<F> {
    fn run(&mut self, units: Vec<Unit>, done: &mut dyn FnMut(usize, Outcome)) {
        for (i, unit) in units.into_iter().enumerate() {
            let outcome = (self.0)(unit);
            done(i, outcome);
        }
    }
}

/// Why a store could not do what was asked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The medium refused: full, read-only, blocked by the browser.
    #[error("the store refused {action} of '{key}': {reason}")]
    Refused {
        /// What was tried: reading, writing, removing.
        action: &'static str,
        /// The entry.
        key: String,
        /// What the medium said.
        reason: String,
    },
}

/// Finished results and profiles kept between visits.
pub trait Store {
    /// Writes or replaces an entry.
    ///
    /// # Errors
    /// When the medium refuses.
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError>;
    /// Reads an entry; `None` when there is none.
    ///
    /// # Errors
    /// When the medium refuses.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Keys in order.
    ///
    /// # Errors
    /// When the medium refuses.
    fn keys(&self) -> Result<Vec<String>, StoreError>;
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    entries: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl Store for MemoryStore {
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.entries.borrow_mut().insert(key.to_owned(), bytes.to_vec());
        Ok(())
    }
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.entries.borrow().get(key).cloned())
    }
    fn keys(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.entries.borrow().keys().cloned().collect())
    }
}
