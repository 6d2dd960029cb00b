//! Semaphores: how many items each unit has completed and when.

use super::agenda::Readiness;
use ns_base::SimTime;
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_machine::isa::{Unit, Wait};

/// The completions of every unit.
#[derive(Clone, Debug)]
pub(super) struct Semaphores {
    /// Completion time of each item so far, never decreasing.
    completed: [Vec<SimTime>; Unit::COUNT],
    /// From a completion of each unit until another unit can start.
    delays: [SimTime; Unit::COUNT],
}

impl Semaphores {
    /// The semaphores before anything runs.
    pub fn new(executable: &Executable, costs: &CostTable) -> Self {
        let completed = Unit::ALL.map(|unit| {
            Vec::with_capacity(match unit {
                Unit::Engine(e) => executable.engines[e.index()].len(),
                Unit::Queue(q) => executable.queues[q.index()].len(),
            })
        });
        let delays = Unit::ALL.map(|unit| {
            SimTime::from_ns(match unit {
                Unit::Engine(_) => costs.engine.semaphore_ns,
                Unit::Queue(_) => costs.dma.semaphore_to_engine_ns,
            })
        });
        Self { completed, delays }
    }

    /// Records the completion of a unit's next item. Units complete in order: `at` is not before the last one.
    #[inline]
    pub fn complete(&mut self, unit: Unit, at: SimTime) {
        self.completed[unit.index()].push(at);
    }

    /// Records the completion of a unit's next item, not before that of the item before it.
    pub fn complete_in_order(&mut self, unit: Unit, at: SimTime) {
        let last = self.completed[unit.index()].last().copied().unwrap_or_default();
        self.complete(unit, at.max(last));
    }

    /// How many items of a unit are complete, which is the index of its next.
    #[inline]
    pub fn done(&self, unit: Unit) -> usize {
        self.completed[unit.index()].len()
    }

    /// When a unit that is free at `free_at` can start an item with these waits, which may take something shared.
    #[inline]
    pub fn readiness(&self, unit: Unit, waits: &[Wait], free_at: SimTime, is_shared: bool) -> Readiness {
        let mut time = free_at;
        for wait in waits {
            let Some(end) = self.end(unit, *wait) else { return Readiness::Blocked(*wait) };
            time = time.max(end);
        }
        Readiness::At { time, is_shared }
    }

    /// When a wait of `unit` ends, if that is known.
    #[inline]
    fn end(&self, unit: Unit, wait: Wait) -> Option<SimTime> {
        let done = match wait.count.checked_sub(1) {
            None => SimTime::ZERO,
            Some(last) => *self.completed[wait.unit.index()].get(last as usize)?,
        };
        Some(if wait.unit == unit { done } else { done + self.delays[wait.unit.index()] })
    }
}
