//! Which unit is due next, and which units wait for another.

use ns_base::SimTime;
use ns_machine::isa::{Unit, Wait};

/// Whether a unit's next item can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The next item is due at this time.
    At {
        /// When it is due.
        time: SimTime,
        /// Whether it takes something that units share, which they get in the order of the times at which they are due.
        is_shared: bool,
    },
    /// The next item waits until another unit completes more items.
    Blocked(Wait),
    /// All items are done.
    Finished,
}

/// The turn of a unit, which goes on until another one is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub unit: Unit,
    /// When its next item is due.
    pub start: SimTime,
    /// Its items that are due before this are of the turn, and those that take nothing shared.
    end: SimTime,
}

impl Turn {
    /// Whether an item of this unit is of this turn. A turn that ends too early does no harm: the unit gets another one.
    #[inline]
    pub fn holds(&self, time: SimTime, is_shared: bool) -> bool {
        !is_shared || time < self.end
    }

    /// Another unit is ready too.
    #[inline]
    pub fn share(&mut self, unit: Unit, readiness: Readiness) {
        match readiness {
            Readiness::At { time, is_shared: true } => self.end_before(unit, time),
            // What it does may let others take something shared earlier.
            Readiness::At { is_shared: false, .. } => self.end = SimTime::ZERO,
            Readiness::Blocked(_) | Readiness::Finished => {}
        }
    }

    /// Another unit is due at `time`. Of those that are due at the same time, the one of the lowest index is first.
    #[inline]
    fn end_before(&mut self, unit: Unit, time: SimTime) {
        self.end = self.end.min(SimTime(time.0.saturating_add(u64::from(self.unit.index() < unit.index()))));
    }
}

/// The readiness of every unit. There are so few that the earliest is found by looking at each.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// When each unit is due; [`NEVER`] for those that are not.
    due: [SimTime; Unit::COUNT],
    /// The units that are due, as bits.
    ready: u16,
    /// Those of them whose next item takes nothing shared.
    free: u16,
    /// What each unit waits for, or waited for last.
    waits: [Option<Wait>; Unit::COUNT],
    /// The units that wait for each unit, as bits.
    waiters: [u16; Unit::COUNT],
    /// The lowest count of each unit that another one waits for, so that nobody is asked at most completions.
    awaited: [usize; Unit::COUNT],
}

/// The end of the clock: no unit is due later.
const NEVER: SimTime = SimTime(u64::MAX);

impl Agenda {
    /// An agenda on which every unit is finished.
    pub const fn new() -> Self {
        Self {
            due: [NEVER; Unit::COUNT],
            ready: 0,
            free: 0,
            waits: [None; Unit::COUNT],
            waiters: [0; Unit::COUNT],
            awaited: [usize::MAX; Unit::COUNT],
        }
    }

    /// The turn of a unit whose next item takes nothing shared; without one, of the unit that is due first: of those that are due at the
    /// same time, the one of the lowest index. A unit that waits is due after one that is ready, so nobody comes before that later.
    #[inline]
    pub fn first(&self) -> Option<Turn> {
        if self.free != 0 {
            let unit = *Unit::ALL.get(self.free.trailing_zeros() as usize)?;
            return Some(Turn { unit, start: self.due[unit.index()], end: SimTime::ZERO });
        }
        // The first two. A unit is not before one of a lower index that is due at the same time.
        let (mut first, mut second) = ((NEVER, Unit::COUNT), (NEVER, Unit::COUNT));
        for next in self.due.into_iter().zip(0..) {
            // Choices of a value, because a processor cannot guess which branch comes.
            let (is_first, is_second) = (next.0 < first.0, next.0 < second.0);
            let other = if is_second { next } else { second };
            second = if is_first { first } else { other };
            first = if is_first { next } else { first };
        }
        // Where none is before the end of the clock, one may be due at the end.
        let (start, index) = if first.0 == NEVER { (NEVER, self.ready.trailing_zeros() as usize) } else { first };
        let mut turn = Turn { unit: *Unit::ALL.get(index)?, start, end: NEVER };
        if let Some(other) = Unit::ALL.get(second.1) {
            turn.end_before(*other, second.0);
        }
        Some(turn)
    }

    /// The turn of the unit that is due first, whatever its item takes.
    #[cfg(test)]
    pub fn earliest(&self) -> Option<Turn> {
        let is_ready = |unit: &Unit| self.ready >> unit.index() & 1 == 1;
        let unit = Unit::ALL.into_iter().filter(is_ready).min_by_key(|unit| (self.due[unit.index()], unit.index()))?;
        Some(Turn { unit, start: self.due[unit.index()], end: NEVER })
    }

    /// Writes down the readiness of a unit, which must not be among those that wait.
    #[inline]
    pub fn set(&mut self, unit: Unit, readiness: Readiness) {
        let bit = 1 << unit.index();
        let (time, is_ready, is_free) = match readiness {
            Readiness::At { time, is_shared } => (time, true, !is_shared),
            Readiness::Blocked(_) | Readiness::Finished => (NEVER, false, false),
        };
        self.due[unit.index()] = time;
        self.ready = self.ready & !bit | if is_ready { bit } else { 0 };
        self.free = self.free & !bit | if is_free { bit } else { 0 };
        if let Readiness::Blocked(wait) = readiness {
            self.waits[unit.index()] = Some(wait);
            self.waiters[wait.unit.index()] |= bit;
            let awaited = &mut self.awaited[wait.unit.index()];
            *awaited = (*awaited).min(wait.count as usize);
        }
    }

    /// Whether a unit waits for `unit` to have completed no more than `done` items.
    #[inline]
    pub fn is_awaited(&self, unit: Unit, done: usize) -> bool {
        self.awaited[unit.index()] <= done
    }

    /// Hands out the units that wait for `unit`: they wait no more, and their readiness has to be set again.
    #[inline]
    pub fn release(&mut self, unit: Unit) -> impl Iterator<Item = Unit> + use<> {
        self.awaited[unit.index()] = usize::MAX;
        let mut bits = std::mem::take(&mut self.waiters[unit.index()]);
        std::iter::from_fn(move || {
            let waiter = Unit::ALL.get(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(*waiter)
        })
    }

    /// The first unit that waits, and for what.
    pub fn first_blocked(&self) -> Option<(Unit, Wait)> {
        let waiters = self.waiters.iter().fold(0, |all, bits| all | bits);
        let unit = *Unit::ALL.get(waiters.trailing_zeros() as usize)?;
        self.waits[unit.index()].map(|wait| (unit, wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_machine::isa::{DmaQueue, Engine};

    const TENSOR: Unit = Unit::Engine(Engine::Tensor);
    const VECTOR: Unit = Unit::Engine(Engine::Vector);
    const IO: Unit = Unit::Queue(DmaQueue::Io);

    /// An item that takes something shared.
    fn due(ps: u64) -> Readiness {
        Readiness::At { time: SimTime(ps), is_shared: true }
    }

    #[test]
    fn the_lowest_of_the_units_that_are_due_together_is_first() {
        let mut agenda = Agenda::new();
        assert!(agenda.first().is_none());
        for unit in [IO, VECTOR] {
            agenda.set(unit, due(7));
        }
        let turn = agenda.first().unwrap();
        assert_eq!((turn.unit, turn.start), (VECTOR, SimTime(7)));
        assert!(turn.holds(SimTime(7), true) && !turn.holds(SimTime(8), true));
        agenda.set(VECTOR, Readiness::Finished);
        let mut turn = agenda.first().unwrap();
        assert!(turn.unit == IO && turn.holds(SimTime(u64::MAX - 1), true));
        turn.share(TENSOR, due(9));
        assert!(turn.holds(SimTime(8), true) && !turn.holds(SimTime(9), true));
    }

    #[test]
    fn what_takes_nothing_shared_comes_first_and_ends_the_turns_of_others() {
        let mut agenda = Agenda::new();
        let free = Readiness::At { time: SimTime(9), is_shared: false };
        agenda.set(IO, due(7));
        let mut other = agenda.first().unwrap();
        other.share(TENSOR, free);
        assert!(!other.holds(SimTime(7), true) && other.holds(SimTime(8), false));
        agenda.set(TENSOR, free);
        let turn = agenda.first().unwrap();
        assert_eq!((turn.unit, turn.start), (TENSOR, SimTime(9)));
        assert!(turn.holds(SimTime(u64::MAX), false) && !turn.holds(SimTime(9), true));
        agenda.set(TENSOR, Readiness::Blocked(Wait { unit: IO, count: 1 }));
        assert_eq!(agenda.first().map(|turn| turn.unit), Some(IO));
    }

    #[test]
    fn a_time_at_the_end_of_the_clock_is_due_too() {
        let mut agenda = Agenda::new();
        agenda.set(IO, due(u64::MAX));
        assert_eq!(agenda.first().map(|turn| turn.unit), Some(IO));
        agenda.set(VECTOR, due(u64::MAX));
        assert_eq!(agenda.first().map(|turn| (turn.unit, turn.start)), Some((VECTOR, SimTime(u64::MAX))));
        agenda.set(VECTOR, Readiness::Finished);
        agenda.set(IO, Readiness::Finished);
        assert!(agenda.first().is_none());
    }

    #[test]
    fn units_that_wait_are_released_once() {
        let mut agenda = Agenda::new();
        let wait = |count| Wait { unit: TENSOR, count };
        agenda.set(IO, Readiness::Blocked(wait(5)));
        agenda.set(VECTOR, Readiness::Blocked(wait(3)));
        assert_eq!(agenda.first_blocked(), Some((VECTOR, wait(3))));
        assert!(!agenda.is_awaited(TENSOR, 2) && agenda.is_awaited(TENSOR, 3) && !agenda.is_awaited(VECTOR, 9));
        assert_eq!(agenda.release(TENSOR).collect::<Vec<_>>(), [VECTOR, IO]);
        assert!(!agenda.is_awaited(TENSOR, 9) && agenda.first_blocked().is_none());
        assert_eq!(agenda.release(TENSOR).count(), 0);
    }
}
