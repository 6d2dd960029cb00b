//! Appends instructions and DMAs to an executable and leaves out redundant waits.

use crate::error::StageError;
use ns_base::refuse;
use ns_machine::isa::{Activity, Dma, DmaDirection, DmaQueue, Engine, Instruction, Op, Unit, Wait};
use ns_machine::{Executable, SeenWaits, SourceId};

/// Most instructions and DMAs of one program; 8 M of them take a quarter of a gigabyte.
pub(super) const MAX_ITEMS: usize = 8_000_000;

/// The purpose of an emitted item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    /// The operation it serves.
    pub source: SourceId,
    /// The process under which the timeline shows it.
    pub activity: Activity,
}

impl Purpose {
    pub fn execution(source: SourceId) -> Self {
        Self { source, activity: Activity::Execution }
    }

    pub fn control(source: SourceId) -> Self {
        Self { source, activity: Activity::Control }
    }

    pub fn data_transfer(source: SourceId) -> Self {
        Self { source, activity: Activity::DataTransfer }
    }
}

/// One DMA to emit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub queue: DmaQueue,
    pub direction: DmaDirection,
    pub bytes: u64,
    pub partitions: u32,
    /// Descriptors: the rows that lie in one piece in device memory.
    pub descriptors: u64,
}

/// Writes the instructions and DMAs of an [`Executable`].
pub(super) struct Emitter {
    executable: Executable,
    seen: SeenWaits,
    /// Items emitted on each unit so far.
    emitted: [u32; Unit::COUNT],
}

impl Emitter {
    pub fn new() -> Self {
        Self { executable: Executable::default(), seen: SeenWaits::default(), emitted: [0; Unit::COUNT] }
    }

    /// Appends an instruction that starts after `after`; returns the wait for its completion.
    pub fn instruction(&mut self, engine: Engine, op: Op, purpose: Purpose, after: &[Wait]) -> Wait {
        self.append(engine, op, purpose, after, false)
    }

    /// The same for an instruction that reads an operand from PSUM.
    pub fn instruction_from_psum(&mut self, engine: Engine, op: Op, purpose: Purpose, after: &[Wait]) -> Wait {
        self.append(engine, op, purpose, after, true)
    }

    fn append(&mut self, engine: Engine, op: Op, purpose: Purpose, after: &[Wait], from_psum: bool) -> Wait {
        let unit = Unit::Engine(engine);
        let (waits_start, waits_len) = self.seen.add(&mut self.executable.waits, unit, after);
        let op = self.executable.ops.id_of(engine, op);
        self.executable.engines[engine.index()].push(Instruction {
            op,
            activity: purpose.activity,
            waits_start,
            waits_len,
            from_psum,
            source: purpose.source,
        });
        self.completed(unit)
    }

    /// Appends a DMA that is triggered after `after`; returns the wait for its completion.
    pub fn dma(&mut self, transfer: Transfer, source: SourceId, after: &[Wait]) -> Wait {
        let unit = Unit::Queue(transfer.queue);
        let (waits_start, waits_len) = self.seen.add(&mut self.executable.waits, unit, after);
        self.executable.queues[transfer.queue.index()].push(Dma {
            bytes: transfer.bytes,
            partitions: transfer.partitions,
            descriptors: transfer.descriptors,
            first_partition: None,
            direction: transfer.direction,
            exchange_ps: 0,
            waits_start,
            waits_len,
            source,
        });
        self.completed(unit)
    }

    /// Waits for everything emitted on the engines so far.
    pub fn so_far(&self) -> Vec<Wait> {
        let engines = Engine::ALL.into_iter().map(Unit::Engine);
        engines.map(|unit| Wait { unit, count: self.emitted[unit.index()] }).filter(|w| w.count > 0).collect()
    }

    /// Fails when the program has grown beyond what can be simulated in memory.
    pub fn check_size(&self) -> Result<(), StageError> {
        let items: u64 = self.emitted.iter().map(|n| u64::from(*n)).sum();
        if items <= MAX_ITEMS as u64 {
            return Ok(());
        }
        Err(refuse!("the program has more than {MAX_ITEMS} instructions: use a smaller size or loop count").into())
    }

    pub fn finish(self) -> Executable {
        self.executable
    }

    fn completed(&mut self, unit: Unit) -> Wait {
        let count = self.emitted[unit.index()].saturating_add(1);
        self.emitted[unit.index()] = count;
        Wait { unit, count }
    }
}

/// The latest completion of each unit.
pub(super) fn latest(waits: Vec<Wait>) -> Vec<Wait> {
    let mut by_unit = [0u32; Unit::COUNT];
    let mut kept: Vec<Wait> = Vec::new();
    for wait in waits {
        let count = &mut by_unit[wait.unit.index()];
        if wait.count > *count {
            *count = wait.count;
            kept.retain(|k| k.unit != wait.unit);
            kept.push(wait);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_written_once_per_unit_and_only_when_new() {
        let mut e = Emitter::new();
        let purpose = Purpose::execution(SourceId(0));
        let first = e.instruction(Engine::Tensor, Op::Matmul { free: 4, passes: 1 }, purpose, &[]);
        let second = e.instruction(Engine::Tensor, Op::Matmul { free: 4, passes: 1 }, purpose, &[]);
        e.instruction(Engine::Vector, Op::TensorCopy { free: 4 }, purpose, &[first, second, second]);
        e.instruction(Engine::Vector, Op::TensorCopy { free: 4 }, purpose, &[first]);
        let vector = &e.executable.engines[Engine::Vector.index()];
        assert_eq!(e.executable.waits(vector[0].waits_start, vector[0].waits_len), &[second]);
        assert_eq!(vector[1].waits_len, 0);
    }
}
