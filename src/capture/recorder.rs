//! Records the activity of the simulator.

use ns_base::convert::usize_to_u32;
use ns_base::{Interval, SimTime};
use ns_insight::ClockLimit;
use ns_machine::isa::{DmaQueue, Engine};
use ns_neuron::sim::Observer;

/// The time of one instruction or DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Position in its stream or ring.
    pub index: u32,
    /// From start to end; for a DMA, from its trigger to its last data.
    pub time: Interval<SimTime>,
}

impl Span {
    /// Nanoseconds on a timeline where the model starts at `origin_ns`.
    pub(super) fn on_timeline(&self, origin_ns: i64) -> Interval<i64> {
        let at = |t: SimTime| origin_ns + i64::try_from(t.to_ns()).unwrap_or(i64::MAX / 4);
        Interval::new(at(self.time.start), at(self.time.end))
    }
}

/// The spans of each engine and queue, in order.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Instructions, in the order of [`Engine::ALL`].
    pub engines: [Vec<Span>; Engine::ALL.len()],
    /// DMAs, in the order of [`DmaQueue::ALL`].
    pub queues: [Vec<Span>; DmaQueue::ALL.len()],
    /// When the limit of the tensor engine's clock changed, and to how many eighths.
    pub limits: Vec<(SimTime, u32)>,
}

/// Eighths of a clock without a limit.
const FULL: u32 = 8;

impl Recorder {
    /// The stretches in which the tensor engine's clock is limited, on a timeline where the model starts at `origin_ns` and ends
    /// at `end_ns`.
    pub(super) fn clock_limits(&self, origin_ns: i64, end_ns: i64) -> Vec<ClockLimit> {
        let at = |t: SimTime| origin_ns + i64::try_from(t.to_ns()).unwrap_or(i64::MAX / 4);
        let ends = self.limits.iter().skip(1).map(|(next, _)| at(*next)).chain([end_ns]);
        let stretches = self.limits.iter().zip(ends).filter(|((_, eighths), _)| *eighths < FULL);
        stretches
            .map(|((start, eighths), end)| ClockLimit { time: Interval::new(at(*start), end), eighths: *eighths })
            .collect()
    }
}

impl Observer for Recorder {
    fn instruction(&mut self, engine: Engine, index: usize, span: Interval<SimTime>) {
        self.engines[engine.index()].push(Span { index: usize_to_u32(index), time: span });
    }

    fn dma(&mut self, queue: DmaQueue, index: usize, triggered: SimTime, span: Interval<SimTime>) {
        let time = Interval::new(triggered, span.end);
        self.queues[queue.index()].push(Span { index: usize_to_u32(index), time });
    }

    fn clock_limit(&mut self, at: SimTime, eighths: u32) {
        self.limits.push((at, eighths));
    }
}
