//! Operations that are placed by what they cost: sorts, scatters, operators without a known meaning.

use super::CodegenError;
use super::emitter::{Purpose, Transfer};
use super::program::{Generator, latest};
use super::value::{Layout, Resident, Value, blocks, matrix_of};
use crate::compiler::hlo::{InstrId, Work, WorkKind};
use crate::machine::cost::decisions::SBUF_CHUNK_ELEMENTS;
use crate::machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};

impl Generator<'_> {
    /// Waits for all operands, does the work, and leaves the result in SBUF.
    pub(super) fn work(&mut self, id: InstrId, work: &Work) -> Result<(), CodegenError> {
        let mut after = self.operands_ready(id)?;
        let shape = self.instruction(id)?.shape.clone();
        let (rows, columns) = matrix_of(&shape);
        let mut resident = Resident::of(Layout::RowMajor, rows, columns);
        resident.bytes = self.resident_bytes(rows, columns, self.element_bytes(id));
        after.extend(self.take(id, resident.bytes)?);
        resident.ready = match work.kind {
            WorkKind::Vector => self.passes(id, work, Engine::Vector, &after),
            WorkKind::GpSimd => self.passes(id, work, Engine::GpSimd, &after),
            WorkKind::Move => self.through_memory(id, work, rows, &after),
        };
        self.set_resident(id, resident);
        Ok(())
    }

    /// Elementwise work none of whose operands has the result's size in SBUF: small values meet repeated ones. One pass over the
    /// result.
    pub(super) fn elementwise_of_parts(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let instruction = self.instruction(id)?;
        let name = instruction.opcode.name().to_owned();
        let elements = instruction.shape.elements();
        self.work(id, &Work { name, kind: WorkKind::Vector, elements, passes: 1 })
    }

    fn operands_ready(&mut self, id: InstrId) -> Result<Vec<Wait>, CodegenError> {
        let mut ready = Vec::new();
        for operand in self.instruction(id)?.operands.clone() {
            let value = match self.value(operand)?.clone() {
                Value::Broadcast { of, .. } => self.value(of)?.clone(),
                other => other,
            };
            match value {
                Value::Resident(resident) => ready.extend(resident.ready),
                Value::Weight { parameter, via } => {
                    ready.extend(self.load_whole(parameter, via, Layout::RowMajor)?.ready);
                }
                Value::Splat | Value::Broadcast { .. } => {}
            }
        }
        Ok(latest(ready))
    }

    /// Passes of an engine over the elements, spread over the partitions.
    fn passes(&mut self, id: InstrId, work: &Work, engine: Engine, after: &[Wait]) -> Vec<Wait> {
        let purpose = Purpose::execution(self.sources.of(id));
        let each = work.elements.div_ceil(u64::from(self.core.partitions)).max(1);
        let mut ready = after.to_vec();
        for _ in 0..work.passes.max(1) {
            let pieces = blocks(each, SBUF_CHUNK_ELEMENTS);
            let done: Vec<Wait> = pieces
                .map(|free| self.emitter.instruction(engine, Op::TensorScalar { free }, purpose, &ready))
                .collect();
            ready = latest(done);
        }
        ready
    }

    /// Out to device memory and back, one descriptor for each row of the result.
    fn through_memory(&mut self, id: InstrId, work: &Work, rows: u64, after: &[Wait]) -> Vec<Wait> {
        let source = self.sources.of(id);
        let out = Transfer {
            queue: DmaQueue::Spill,
            direction: DmaDirection::SbufToHbm,
            bytes: work.elements.saturating_mul(self.precision.value_bytes),
            partitions: self.core.partitions,
            short_descriptors: 0,
        };
        let stored = self.emitter.dma(out, source, after);
        let back = Transfer { direction: DmaDirection::HbmToSbuf, short_descriptors: rows, ..out };
        vec![self.emitter.dma(back, source, &[stored])]
    }
}
