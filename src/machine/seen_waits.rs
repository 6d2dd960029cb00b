//! The waits of a program as it is written, without those that cannot be pending.

use super::isa::{Unit, Wait};
use ns_base::convert::usize_to_u32;

/// For each unit, the count of every other unit that one of its earlier items already waited for.
#[derive(Clone, Debug)]
pub struct SeenWaits([[u32; Unit::COUNT]; Unit::COUNT]);

impl Default for SeenWaits {
    fn default() -> Self {
        Self([[0; Unit::COUNT]; Unit::COUNT])
    }
}

impl SeenWaits {
    /// Writes the waits of the next item of `unit`; returns the first of them and how many there are.
    ///
    /// Keeps the highest count per unit and drops what an earlier item of `unit` already waited for: items run in
    /// order, so that wait cannot be pending. A wait for the unit's own last item stays: it is a dependency.
    pub fn add(&mut self, waits: &mut Vec<Wait>, unit: Unit, after: &[Wait]) -> (u32, u8) {
        let mut needed = [0u32; Unit::COUNT];
        for wait in after {
            let slot = &mut needed[wait.unit.index()];
            *slot = (*slot).max(wait.count);
        }
        let start = usize_to_u32(waits.len());
        let mut len = 0u8;
        for wait in after {
            let i = wait.unit.index();
            if needed[i] == wait.count && self.0[unit.index()][i] < wait.count {
                self.0[unit.index()][i] = wait.count;
                waits.push(*wait);
                len += 1;
            }
        }
        (start, len)
    }
}
