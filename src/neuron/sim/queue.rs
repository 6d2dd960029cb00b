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
            self.queues_free_at[queue.index()] = triggered + SimTime::from_ns(costs.dma.issue_interval_ns);
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
