//! The time of one processor: each piece of work has a cost, which is charged to its source line.

use crate::{Meter, Work};
use ns_machine::cost::GpsimdCosts;

/// The kinds of a processor's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Waiting for single elements of device memory.
    HbmAccess,
    /// Waiting for copies between device memory and TCM.
    Dma,
    /// Waiting for tensors in device memory to be filled or copied.
    TensorMove,
    /// Instructions, and accesses to local memory.
    Compute,
}

impl Kind {
    /// All, in the order of reports.
    pub const ALL: [Self; 4] = [Self::HbmAccess, Self::Dma, Self::TensorMove, Self::Compute];
}

/// The cost of one line of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCost {
    /// The number of times it ran.
    pub count: u64,
    /// Picoseconds.
    pub time_ps: u64,
    /// Bytes that it reads from device memory or writes there.
    pub bytes: u64,
}

/// A span in which a processor did one kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Picoseconds from the kernel's start.
    pub start_ps: u64,
    /// Picoseconds from the kernel's start.
    pub end_ps: u64,
    /// The kind of work.
    pub kind: Kind,
    /// The line on which it began.
    pub line: u32,
}

/// Most segments that one processor keeps: enough for every block of a tensor, too few for every element.
const MAX_SEGMENTS: usize = 4_096;

/// Adds up the time of one processor.
#[derive(Clone, Debug)]
pub struct CoreMeter {
    costs: GpsimdCosts,
    lines: Vec<LineCost>,
    kinds: [u64; Kind::ALL.len()],
    now_ps: u64,
    segments: Vec<Segment>,
}

impl CoreMeter {
    /// A processor at its start.
    pub fn new(costs: &GpsimdCosts) -> Self {
        Self { costs: costs.clone(), lines: Vec::new(), kinds: [0; 4], now_ps: 0, segments: Vec::new() }
    }

    /// Its time so far, picoseconds.
    pub const fn total_ps(&self) -> u64 {
        self.now_ps
    }

    /// Its time of a kind, picoseconds.
    pub const fn kind_ps(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Its lines; the first entry is line 0, which no source has.
    pub fn lines(&self) -> &[LineCost] {
        &self.lines
    }

    /// Its segments in order. After the first few thousand, the rest of the time is one segment of the last kind of
    /// work.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn line_mut(&mut self, line: u32) -> Option<&mut LineCost> {
        let line = line as usize;
        if line >= self.lines.len() {
            self.lines.resize(line + 1, LineCost::default());
        }
        self.lines.get_mut(line)
    }

    fn price(&self, work: Work) -> (Kind, u64) {
        let c = &self.costs;
        let cycles = |n: u32| (Kind::Compute, c.cycles_ps(n));
        match work {
            Work::Integer => cycles(c.integer_cycles),
            Work::Float => cycles(c.float_cycles),
            Work::Double => cycles(c.float_cycles * c.double_factor),
            Work::Divide => cycles(c.divide_cycles),
            Work::Function => cycles(c.function_cycles),
            Work::DoubleFunction => cycles(c.function_cycles * c.double_factor),
            Work::Jump => cycles(c.jump_cycles),
            Work::Call => cycles(c.call_cycles),
            Work::Tcm => cycles(c.tcm_cycles),
            Work::HbmAccess { .. } => (Kind::HbmAccess, c.hbm_access_ns * 1_000),
            Work::Dma { bytes } => (Kind::Dma, c.dma_ps(bytes)),
            Work::TensorMove { bytes } => (Kind::TensorMove, c.dma_ps(bytes)),
        }
    }
}

impl Meter for CoreMeter {
    fn line(&mut self, line: u32) {
        if let Some(l) = self.line_mut(line) {
            l.count += 1;
        }
    }

    fn work(&mut self, line: u32, work: Work) {
        let (kind, ps) = self.price(work);
        let start = self.now_ps;
        self.now_ps += ps;
        self.kinds[kind as usize] += ps;
        if let Some(l) = self.line_mut(line) {
            l.time_ps += ps;
            l.bytes += work.memory_bytes();
        }
        let full = self.segments.len() >= MAX_SEGMENTS;
        match self.segments.last_mut() {
            Some(last) if last.kind == kind || full => last.end_ps = self.now_ps,
            _ => self.segments.push(Segment { start_ps: start, end_ps: self.now_ps, kind, line }),
        }
    }
}
