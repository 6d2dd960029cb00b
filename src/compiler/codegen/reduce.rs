//! Reductions: along the free dimension on the vector engine, across partitions through the array.

use super::CodegenError;
use super::emitter::Purpose;
use super::program::{Generator, latest};
use super::value::{Layout, Resident, Value, blocks};
use crate::compiler::hlo::InstrId;
use crate::machine::isa::{Engine, Op};

impl Generator<'_> {
    /// A reduction of the last dimension, or of all of them.
    pub(super) fn reduce(&mut self, id: InstrId, dimensions: &[u32]) -> Result<(), CodegenError> {
        let operand_id = self.operand(id, 0)?;
        let rank = self.instruction(operand_id)?.shape.rank();
        if dimensions.len() == rank {
            return self.reduce_all(id, operand_id);
        }
        if dimensions.len() == 1 && dimensions[0] as usize + 1 == rank {
            return self.reduce_last(id, operand_id);
        }
        self.reduce_free(id, operand_id)
    }

    /// Over dimensions that lie along the free dimension when the features are on the partitions: pixels, tokens.
    fn reduce_free(&mut self, id: InstrId, operand_id: InstrId) -> Result<(), CodegenError> {
        let operand = self.in_layout(operand_id, id, Layout::FeatureMajor)?;
        let kept = self.instruction(id)?.shape.elements().div_ceil(operand.partition_elements.max(1)).max(1);
        let purpose = Purpose::execution(self.sources.of(id));
        let mut resident = Resident::of(Layout::FeatureMajor, kept, operand.partition_elements);
        resident.bytes = self.resident_bytes(operand.partition_elements, kept, self.precision.value_bytes);
        let mut after = operand.ready.clone();
        after.extend(self.take(id, resident.bytes)?);
        let op = Op::TensorReduce { free: u32::try_from(operand.free_elements).unwrap_or(u32::MAX) };
        let ready = blocks(operand.partition_elements, self.core.partitions)
            .map(|_| self.emitter.instruction(Engine::Vector, op, purpose, &after))
            .collect();
        resident.ready = latest(ready);
        self.set_resident(id, resident);
        Ok(())
    }

    fn reduce_last(&mut self, id: InstrId, operand_id: InstrId) -> Result<(), CodegenError> {
        let operand = self.in_layout(operand_id, id, Layout::RowMajor)?;
        let purpose = Purpose::execution(self.sources.of(id));
        let mut resident = Resident::of(Layout::RowMajor, operand.partition_elements, 1);
        resident.bytes = self.resident_bytes(operand.partition_elements, 1, self.precision.value_bytes);
        let room = self.take(id, resident.bytes)?;
        let op = Op::TensorReduce { free: u32::try_from(operand.free_elements).unwrap_or(u32::MAX) };
        let mut after = operand.ready.clone();
        after.extend(room);
        resident.groups = operand.groups;
        let ready = operand.partition_blocks(self.core.partitions);
        let ready = ready.map(|_| self.emitter.instruction(Engine::Vector, op, purpose, &after)).collect();
        resident.ready = latest(ready);
        self.set_resident(id, resident);
        Ok(())
    }

    /// Sums or maxima of each partition first, then one column through the array onto one partition.
    fn reduce_all(&mut self, id: InstrId, operand_id: InstrId) -> Result<(), CodegenError> {
        let Value::Resident(operand) = self.value(operand_id)?.clone() else {
            return Err(self.unsupported(id, "a reduction of a weight or a constant"));
        };
        let purpose = Purpose::execution(self.sources.of(id));
        let bytes = self.resident_bytes(1, 1, self.precision.value_bytes);
        let mut after = operand.ready.clone();
        after.extend(self.take(id, bytes)?);
        let partition_blocks: Vec<u32> = blocks(operand.partition_elements, self.core.partitions).collect();
        let op = Op::TensorReduce { free: u32::try_from(operand.free_elements).unwrap_or(u32::MAX) };
        let partial: Vec<_> =
            partition_blocks.iter().map(|_| self.emitter.instruction(Engine::Vector, op, purpose, &after)).collect();
        let partial = latest(partial);
        let rows = partition_blocks.first().copied().unwrap_or(1);
        self.emitter.instruction(Engine::Tensor, Op::LdWeights { rows, columns: 1 }, purpose, &partial);
        let free = u32::try_from(partition_blocks.len()).unwrap_or(u32::MAX).min(self.core.moving_free_max);
        let across = self.emitter.instruction(Engine::Tensor, Op::Matmul { free, passes: 1 }, purpose, &[]);
        let done = self.emitter.instruction(Engine::Vector, Op::TensorReduce { free }, purpose, &[across]);
        let resident = Resident {
            layout: Layout::FeatureMajor,
            partition_elements: 1,
            free_elements: 1,
            bytes,
            ready: vec![done],
            groups: 1,
        };
        self.set_resident(id, resident);
        Ok(())
    }
}
