//! What a rank runs as one program: segments, and a collective wherever the ranks exchange their sums.
//!
//! A collective is moved by the DMA engines that fetch weights. It waits for everything before it, and nothing of the next segment
//! begins before it ends.

use ns_base::{IndexVec, SimTime};
use ns_machine::isa::{Dma, DmaDirection, DmaQueue, Instruction, Unit, Wait};
use ns_machine::{Executable, OpId, SourceEntry, SourceId};

/// The name of a collective in operator tables and timelines.
pub const COLLECTIVE: &str = "all-reduce";

/// The queue of collectives.
const QUEUE: DmaQueue = DmaQueue::Weights;

/// Bytes below which the matrices of an expert are fetched together.
const SMALL_TRANSFER: u64 = 1 << 21;

/// A program that grows by segments and collectives.
#[derive(Clone, Debug, Default)]
pub struct RankProgram {
    executable: Executable,
}

impl RankProgram {
    /// The program so far.
    pub const fn executable(&self) -> &Executable {
        &self.executable
    }

    /// The program, complete.
    pub fn into_executable(self) -> Executable {
        self.executable
    }

    /// Appends a segment, which begins when the collective before it ends.
    pub fn segment(&mut self, segment: &Executable) {
        let before = self.executable.item_counts();
        let last = self.executable.queues[QUEUE.index()].last();
        let barrier = last.filter(|dma| dma.exchange_ps > 0).map(|_| wait(&before, Unit::Queue(QUEUE)));
        self.splice(segment, barrier.into_iter().collect());
    }

    /// Appends `loads` experts, which begin when everything before is complete, because that tells which they are. The weights of each lie in
    /// `rows` rows of device memory.
    pub fn experts(&mut self, expert: &Executable, loads: u64, rows: u64) {
        let mut expert = expert.clone();
        // A queue takes a while for each transfer, so small ones are fetched together.
        let weights = &mut expert.queues[DmaQueue::Weights.index()];
        let bytes: u64 = weights.iter().map(|dma| dma.bytes).sum();
        let mut fetched: Vec<Dma> = Vec::new();
        let mut places = vec![0];
        for dma in weights.drain(..) {
            match fetched.last_mut().filter(|last| last.bytes < SMALL_TRANSFER) {
                Some(last) => last.bytes += dma.bytes,
                None => fetched.push(Dma { waits_len: 0, ..dma }),
            }
            places.push(index(fetched.len()));
        }
        for dma in &mut fetched {
            dma.descriptors = rows * dma.bytes / bytes.max(1);
        }
        *weights = fetched;
        for wait in &mut expert.waits {
            if wait.unit == Unit::Queue(DmaQueue::Weights) {
                wait.count = places.get(wait.count as usize).copied().unwrap_or(wait.count);
            }
        }
        // What experts give is summed up where it is, so that the tokens of the next need not wait for it.
        expert.queues[DmaQueue::Io.index()].retain(|dma| dma.direction == DmaDirection::HbmToSbuf);
        for load in 0..loads {
            let before = self.executable.item_counts();
            let all = Unit::ALL.map(|unit| wait(&before, unit)).into_iter().filter(|wait| load == 0 && wait.count > 0);
            self.splice(&expert, all.collect());
        }
    }

    fn splice(&mut self, segment: &Executable, barrier: Vec<Wait>) {
        let before = self.executable.item_counts();
        let sources = self.executable.sources.len();
        for source in segment.sources.iter() {
            self.executable.sources.push(source.clone());
        }
        let mut splice = Splice { from: segment, to: &mut self.executable.waits, before, barrier, sources };
        let ops: IndexVec<OpId, OpId> =
            segment.ops.iter().map(|entry| self.executable.ops.id_of(entry.engine, entry.op)).collect();
        for (own, new) in self.executable.engines.iter_mut().zip(&segment.engines) {
            for (n, instruction) in new.iter().enumerate() {
                let (waits_start, waits_len) = splice.waits(n == 0, instruction.waits_start, instruction.waits_len);
                own.push(Instruction {
                    op: ops[instruction.op],
                    waits_start,
                    waits_len,
                    source: splice.source(instruction.source),
                    ..*instruction
                });
            }
        }
        for (own, new) in self.executable.queues.iter_mut().zip(&segment.queues) {
            for (n, dma) in new.iter().enumerate() {
                let (waits_start, waits_len) = splice.waits(n == 0, dma.waits_start, dma.waits_len);
                own.push(Dma { waits_start, waits_len, source: splice.source(dma.source), ..*dma });
            }
        }
    }

    /// Appends a collective that takes `time` once everything before it is complete.
    pub fn collective(&mut self, time: SimTime) {
        let counts = self.executable.item_counts();
        let waits_start = index(self.executable.waits.len());
        let all = Unit::ALL.map(|unit| wait(&counts, unit)).into_iter().filter(|wait| wait.count > 0);
        self.executable.waits.extend(all);
        let waits_len = u8::try_from(self.executable.waits.len() - waits_start as usize).unwrap_or(u8::MAX);
        let source = SourceId(index(self.executable.sources.len()));
        let name = || COLLECTIVE.to_owned();
        self.executable.sources.push(SourceEntry {
            hlo_text: name(),
            hlo_opcode: name(),
            framework_op: name(),
            scope: Vec::new(),
            path: name(),
            members: Vec::new(),
        });
        self.executable.queues[QUEUE.index()].push(Dma {
            bytes: 0,
            partitions: 0,
            descriptors: 0,
            first_partition: None,
            direction: DmaDirection::HbmToSbuf,
            exchange_ps: time.0,
            waits_start,
            waits_len,
            source,
        });
    }
}

/// The wait for everything that a unit has so far.
fn wait(counts: &[u32; Unit::COUNT], unit: Unit) -> Wait {
    Wait { unit, count: counts[unit.index()] }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Items of a segment on their way into a program.
struct Splice<'a> {
    from: &'a Executable,
    /// The waits of the program.
    to: &'a mut Vec<Wait>,
    /// Items that each unit had.
    before: [u32; Unit::COUNT],
    barrier: Vec<Wait>,
    /// Source entries that the program had.
    sources: usize,
}

impl Splice<'_> {
    /// The waits of an item in the program; the first item of a unit waits for the collective too.
    fn waits(&mut self, is_first: bool, start: u32, len: u8) -> (u32, u8) {
        let at = index(self.to.len());
        let before = self.before;
        let shift = |wait: &Wait| Wait { unit: wait.unit, count: wait.count + before[wait.unit.index()] };
        self.to.extend(self.from.waits(start, len).iter().map(shift));
        self.to.extend(self.barrier.iter().filter(|_| is_first));
        (at, u8::try_from(self.to.len() - at as usize).unwrap_or(u8::MAX))
    }

    fn source(&self, of: SourceId) -> SourceId {
        SourceId(of.0 + index(self.sources))
    }
}
