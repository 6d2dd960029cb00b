//! The DMAs of a queue.

use super::Observer;
use super::agenda::{Readiness, Turn};
use super::core::{Core, Program};
use ns_base::{Interval, SimTime};
use ns_machine::cost::CostTable;
use ns_machine::isa::{Dma, DmaQueue};

impl Core {
    /// Runs DMAs of a queue until its turn ends.
    pub fn run_queue<O: Observer + ?Sized>(
        &mut self,
        program: Program<'_>,
        queue: DmaQueue,
        mut turn: Turn,
        budget: u64,
        observer: &mut O,
    ) -> u64 {
        let Program { executable, costs, .. } = program;
        let unit = turn.unit;
        let ring = &executable.queues[queue.index()];
        let mut index = self.semaphores.done(unit);
        let mut ran = 0;
        let readiness = loop {
            let Some(dma) = ring.get(index) else { break Readiness::Finished };
            let waits = executable.waits(dma.waits_start, dma.waits_len);
            let triggered = match self.semaphores.readiness(unit, waits, self.queues_free_at[queue.index()], true) {
                Readiness::At { time, is_shared } if ran < budget && turn.holds(time, is_shared) => time,
                readiness => break readiness,
            };
            let (span, completed_at) = if dma.exchange_ps > 0 {
                let span = self.exchange(SimTime(dma.exchange_ps), triggered);
                (span, span.end)
            } else {
                let span = self.transfer(costs, dma, triggered);
                (span, span.end + SimTime::from_ns(costs.dma.completion_ns))
            };
            if executable.one_descriptor_engine {
                self.queues_free_at = [triggered + SimTime::from_ns(costs.kernel.dma_issue_ns); DmaQueue::ALL.len()];
            } else {
                let issue_ns =
                    if dma.first_partition.is_some() { costs.kernel.dma_issue_ns } else { costs.dma.issue_interval_ns };
                self.queues_free_at[queue.index()] = triggered + SimTime::from_ns(issue_ns);
            }
            self.semaphores.complete_in_order(unit, completed_at);
            observer.dma(queue, index, triggered, span);
            self.extend_window(span.end);
            index += 1;
            ran += 1;
            if self.agenda.is_awaited(unit, index) {
                self.wake(program, &mut turn);
            }
        };
        self.agenda.set(unit, readiness);
        ran
    }

    /// When a collective runs. Its time has everything from its trigger to its semaphore, and no other data move meanwhile.
    fn exchange(&mut self, time: SimTime, triggered: SimTime) -> Interval<SimTime> {
        let start = triggered.max(self.dma_pool_free_at);
        let end = start + time;
        self.dma_pool_free_at = end;
        self.outcome.dma_busy += time;
        Interval::new(start, end)
    }

    /// When a DMA moves its data. All queues share the bandwidth of the core's DMA engines.
    fn transfer(&mut self, costs: &CostTable, dma: &Dma, triggered: SimTime) -> Interval<SimTime> {
        let d = &costs.dma;
        if let Some(first) = dma.first_partition {
            let ready = triggered + SimTime::from_ns(d.trigger_to_data_ns);
            let span = self.dma_engines.transfer(costs, dma, first, ready);
            self.outcome.dma_busy = self.dma_engines.busiest();
            self.outcome.dma_bytes += dma.bytes;
            return span;
        }
        let engines = u64::from(dma.partitions.div_ceil(d.partitions_per_engine).clamp(1, costs.core.dma_engines));
        let own = transfer_time(dma.bytes, engines * d.engine_bytes_per_us).max(SimTime::from_ns(d.min_data_ns));
        let descriptors = SimTime(dma.descriptors.saturating_mul(d.descriptor_ps));
        let shared = transfer_time(dma.bytes, d.aggregate_bytes_per_us) + descriptors;
        let start = (triggered + SimTime::from_ns(d.trigger_to_data_ns)).max(self.dma_pool_free_at);
        let end = start + own.max(shared);
        self.dma_pool_free_at = start + shared;
        self.outcome.dma_busy += end - start;
        self.outcome.dma_bytes += dma.bytes;
        Interval::new(start, end)
    }
}

/// The DMA engines of a core, each with the partitions that it serves.
#[derive(Clone, Debug)]
pub struct DmaEngines {
    /// When each has moved what it was given.
    free_at: Vec<SimTime>,
    /// The sum of the times that each was at work.
    busy: Vec<SimTime>,
}

impl DmaEngines {
    /// The engines of a core before anything moves.
    pub fn new(costs: &CostTable) -> Self {
        let idle = vec![SimTime::ZERO; usize::try_from(costs.core.dma_engines).unwrap_or(1).max(1)];
        Self { free_at: idle.clone(), busy: idle }
    }

    /// The time that the busiest engine was at work.
    pub fn busiest(&self) -> SimTime {
        self.busy.iter().copied().max().unwrap_or_default()
    }

    /// When the rows of a DMA that is ready move, from the first engine's start to the last one's end: each engine has those of its
    /// partitions, and those of the DMAs before it first.
    pub fn transfer(&mut self, costs: &CostTable, dma: &Dma, first: u32, ready: SimTime) -> Interval<SimTime> {
        let each = costs.dma.partitions_per_engine.max(1);
        let (rows, last) = (u64::from(dma.partitions.max(1)), first + dma.partitions.max(1));
        let rate = costs.kernel.dma_engine_bytes_per_us;
        let of_rows = |own: u64| {
            let descriptors = SimTime((dma.descriptors * own / rows).saturating_mul(costs.kernel.dma_descriptor_ps));
            transfer_time(dma.bytes * own / rows, rate) + descriptors
        };
        let full = of_rows(u64::from(each));
        let (mut start, mut end) = (SimTime(u64::MAX), ready);
        let mut partition = first;
        while partition < last {
            let next = (partition / each + 1) * each;
            let own = u64::from(next.min(last) - partition);
            let engine = (partition / each) as usize % self.free_at.len();
            let time = if own == u64::from(each) { full } else { of_rows(own) };
            let begin = self.free_at[engine].max(ready);
            self.free_at[engine] = begin + time;
            self.busy[engine] += time;
            start = start.min(begin);
            end = end.max(begin + time);
            partition = next;
        }
        Interval::new(start.min(end), end)
    }
}

/// How long `bytes` take at a rate.
fn transfer_time(bytes: u64, bytes_per_us: u64) -> SimTime {
    let rate = bytes_per_us.max(1);
    // A division of 128 bits takes many times longer, and up to 18 TB fit in 64.
    if let Some(scaled) = bytes.checked_mul(1_000_000) {
        return SimTime(scaled / rate);
    }
    let ps = u128::from(bytes) * 1_000_000 / u128::from(rate);
    SimTime(u64::try_from(ps).unwrap_or(u64::MAX))
}
