//! The two queues of the scheduler, both without allocation while it runs: events in time order, and workers waiting
//! for a resource in the order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Number of bits for the worker in an event's key.
const WORKER_BITS: u32 = 20;

/// The most workers one scheduler can hold.
pub(super) const MAX_WORKERS: u64 = 1 << WORKER_BITS;

/// A worker's next event, at `time_ps`; of several events at one time, the one that was scheduled first comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time_ps: u64,
    /// Sequence number in the high bits, worker in the low ones: one comparison resolves a tie.
    order: u64,
}

/// Events ordered by (time, sequence). Each worker has at most one.
pub(super) struct EventQueue {
    heap: BinaryHeap<Reverse<Event>>,
    sequence: u64,
}

impl EventQueue {
    pub(super) fn new(workers: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(workers), sequence: 0 }
    }

    #[inline]
    pub(super) fn schedule(&mut self, time_ps: u64, worker: u32) {
        let order = (self.sequence << WORKER_BITS) | u64::from(worker);
        self.sequence += 1;
        self.heap.push(Reverse(Event { time_ps, order }));
    }

    /// The earliest event: its time and its worker.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u64, u32)> {
        let Reverse(event) = self.heap.pop()?;
        // The mask leaves 20 bits, so the cast is exact.
        Some((event.time_ps, (event.order & (MAX_WORKERS - 1)) as u32))
    }
}

const NOBODY: u32 = u32::MAX;

/// Resources that serve one worker at a time (or several, if they have more servers), first come first served. A worker
/// waits for at most one resource, so one link for each worker is enough for all queues together.
pub(super) struct Resources {
    lines: Vec<Line>,
    behind: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Line {
    /// Servers that are free.
    free: u32,
    first: u32,
    last: u32,
    /// Picoseconds that were asked of it.
    served_ps: u64,
}

impl Resources {
    pub(super) fn new(resources: usize, workers: usize) -> Self {
        let line = Line { free: 1, first: NOBODY, last: NOBODY, served_ps: 0 };
        Self { lines: vec![line; resources], behind: vec![NOBODY; workers] }
    }

    /// Gives a resource this many servers, before anybody uses it.
    pub(super) fn set_servers(&mut self, resource: usize, servers: u32) {
        self.lines[resource].free = servers;
    }

    /// Takes a server of the resource, or joins its queue and returns `false`. The time for which it is wanted is added to what the
    /// resource serves; zero where nobody asks for that.
    #[inline]
    pub(super) fn acquire(&mut self, resource: usize, worker: u32, time_ps: u64) -> bool {
        let line = &mut self.lines[resource];
        line.served_ps = line.served_ps.saturating_add(time_ps);
        if line.free > 0 {
            line.free -= 1;
            return true;
        }
        self.behind[worker as usize] = NOBODY;
        if line.first == NOBODY {
            line.first = worker;
        } else {
            self.behind[line.last as usize] = worker;
        }
        line.last = worker;
        false
    }

    /// The longest time that one of these resources serves.
    pub(super) fn longest_served_ps(&self, resources: Range<usize>) -> u64 {
        self.lines[resources].iter().map(|line| line.served_ps).max().unwrap_or(0)
    }

    /// Gives the server to the worker that has waited longest, or frees it.
    #[inline]
    pub(super) fn release(&mut self, resource: usize) -> Option<u32> {
        let line = &mut self.lines[resource];
        if line.first == NOBODY {
            line.free += 1;
            return None;
        }
        let next = line.first;
        line.first = self.behind[next as usize];
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_by_age() {
        let mut queue = EventQueue::new(4);
        for (time, worker) in [(5, 0), (3, 1), (5, 2), (3, 3)] {
            queue.schedule(time, worker);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(3, 1), (3, 3), (5, 0), (5, 2)]);
    }

    #[test]
    fn first_come_first_served_across_two_resources() {
        let mut r = Resources::new(2, 5);
        assert!(r.acquire(0, 0, 0) && r.acquire(1, 1, 0));
        assert!(!r.acquire(0, 2, 0) && !r.acquire(1, 3, 0) && !r.acquire(0, 4, 0));
        assert_eq!([r.release(0), r.release(0), r.release(0)], [Some(2), Some(4), None]);
        assert!(r.acquire(0, 0, 0));
        assert_eq!([r.release(1), r.release(1)], [Some(3), None]);
    }
}
