//! The memories of a core: SBUF as a ring, in which space is given out in program order and comes back when its last reader
//! is done, and PSUM as banks in rotation.

use crate::error::StageError;
use ns_base::convert::u64_to_f64;
use ns_base::refuse;
use ns_base::units::format_bytes;
use ns_machine::isa::Wait;

/// Plans SBUF. Space released by an operation can be taken by a later one as soon as that operation is complete, so
/// weights are prefetched exactly as far ahead as there is room.
#[derive(Debug)]
pub(super) struct SbufRing {
    capacity: u64,
    allocated: u64,
    /// Cumulative bytes released, with the completions that released them, in program order.
    releases: Vec<(u64, Vec<Wait>)>,
    peak: u64,
}

impl SbufRing {
    pub fn new(capacity: u64) -> Self {
        Self { capacity, allocated: 0, releases: Vec::new(), peak: 0 }
    }

    /// Takes `bytes`; returns the waits until they are free. Fails when the values still in use leave less room than that.
    pub fn take(&mut self, bytes: u64, path: &str) -> Result<Vec<Wait>, StageError> {
        let allocated = self.allocated.saturating_add(bytes);
        let must_be_released = allocated.saturating_sub(self.capacity);
        let waits = if must_be_released == 0 {
            Vec::new()
        } else {
            let i = self.releases.partition_point(|(total, _)| *total < must_be_released);
            let Some((_, waits)) = self.releases.get(i) else {
                let needed = allocated - self.released();
                let refusal = refuse!(
                    "{path} needs {} of SBUF at once, the core has {}: {} are missing. Use a smaller batch or a smaller model",
                    bytes_text(needed),
                    bytes_text(self.capacity),
                    bytes_text(needed - self.capacity)
                );
                return Err(StageError::at(path.to_owned(), refusal));
            };
            waits.clone()
        };
        self.allocated = allocated;
        self.peak = self.peak.max((allocated - self.released()).min(self.capacity));
        Ok(waits)
    }

    /// Gives `bytes` back once `done` is complete.
    pub fn release(&mut self, bytes: u64, done: Vec<Wait>) {
        if bytes > 0 {
            let total = self.released() + bytes;
            self.releases.push((total, done));
        }
    }

    /// The most bytes in use at once.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    fn released(&self) -> u64 {
        self.releases.last().map_or(0, |(total, _)| *total)
    }
}

/// Banks of PSUM in rotation, with the eviction that frees each bank.
pub(super) struct PsumBanks {
    evicted: Vec<Option<Wait>>,
    next: usize,
}

impl PsumBanks {
    pub fn new(banks: u32) -> Self {
        Self { evicted: vec![None; banks.max(1) as usize], next: 0 }
    }

    pub fn next(&self) -> usize {
        self.next
    }

    /// Takes the next bank; returns it with the eviction that must be complete before the bank is written.
    pub fn take(&mut self) -> (usize, Option<Wait>) {
        let bank = self.next;
        self.next = (self.next + 1) % self.evicted.len();
        (bank, self.evicted[bank])
    }

    pub fn set_evicted(&mut self, bank: usize, by: Wait) {
        self.evicted[bank] = Some(by);
    }
}

/// A size, for messages.
pub(super) fn bytes_text(bytes: u64) -> String {
    format_bytes(u64_to_f64(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_machine::isa::{Engine, Unit};

    #[test]
    fn space_comes_back_in_order_and_exhaustion_says_how_much() {
        let done = |count| vec![Wait { unit: Unit::Engine(Engine::Tensor), count }];
        let mut ring = SbufRing::new(100);
        assert_eq!(ring.take(60, "a").unwrap(), vec![]);
        let error = ring.take(60, "b").unwrap_err();
        assert_eq!(error.path.as_deref(), Some("b"));
        assert!(
            error.refusal.what().starts_with("b needs 120 B of SBUF at once, the core has 100 B: 20 B are missing"),
            "{error}"
        );
        ring.release(60, done(7));
        assert_eq!(ring.take(60, "b").unwrap(), done(7));
        assert_eq!(ring.peak(), 60);
    }
}
