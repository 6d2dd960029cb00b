//! Moving data: inputs, weights, results, and the operands of custom operators.

use super::CodegenError;
use super::emitter::{Purpose, Transfer};
use super::program::{Generator, Loaded};
use super::value::{Layout, Resident, Value, blocks, matrix_of};
use crate::compiler::hlo::InstrId;
use crate::machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};

/// Bytes of a weight element in device memory: bf16, the cast of the era of the published figures.
const WEIGHT_BYTES: u64 = 2;
/// Bytes of an input or output element: inputs and outputs are never cast.
const IO_BYTES: u64 = 4;

impl Generator<'_> {
    /// Brings an input into SBUF. In a lazily executed graph the step itself first moves it to where the executable
    /// reads it; a traced model finds it there.
    pub(super) fn input(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let (rows, columns) = matrix_of(&self.instruction(id)?.shape);
        let bytes = rows.saturating_mul(columns).saturating_mul(IO_BYTES);
        self.emitter.executable.memory.input_bytes += bytes;
        let staged = self.module.workflow.transfers_inputs();
        // Under a traced model there is no input operation: the load is part of the operation that reads it.
        let source = self.sources.of(if staged { id } else { self.first_reader(id) });
        let partitions = self.core.partitions;
        // One block can be read transposed by its descriptors; a larger one is turned through the array where needed.
        let one_block = rows <= u64::from(partitions) && columns <= u64::from(partitions);
        let layout = if one_block { Layout::FeatureMajor } else { Layout::RowMajor };
        let (along_partitions, along_free) = if one_block { (columns, rows) } else { (rows, columns) };
        let sbuf_bytes = self.resident_bytes(along_partitions, along_free, IO_BYTES);
        let mut after = self.take(id, sbuf_bytes)?;
        let touched = u32::try_from(along_partitions.min(u64::from(partitions))).unwrap_or(partitions);
        let transfer = Transfer { queue: DmaQueue::Io, direction: DmaDirection::HbmToSbuf, bytes, partitions: touched };
        if staged {
            let staging = Transfer { direction: DmaDirection::HbmToHbm, partitions, ..transfer };
            let moved = self.emitter.dma(staging, source, &[]);
            after.push(moved);
            // Weights are parameters of a lazily executed graph like its inputs: it reads them once those are there.
            self.staged.push(moved);
        }
        let ready = vec![self.emitter.dma(transfer, source, &after)];
        let resident = Resident {
            layout,
            partition_elements: along_partitions,
            free_elements: along_free,
            bytes: sbuf_bytes,
            ready,
        };
        self.set_resident(id, resident);
        Ok(())
    }

    /// Loads a weight matrix in blocks of result columns, once; the completion of each block.
    pub(super) fn load_matrix(
        &mut self,
        parameter: InstrId,
        via: InstrId,
        depth: u64,
        columns: u64,
    ) -> Result<Vec<Wait>, CodegenError> {
        if let Some(loaded) = self.loaded.get(&parameter) {
            return Ok(loaded.blocks.clone());
        }
        let source = self.sources.of(via);
        let mut loaded = Loaded::default();
        for block in blocks(columns, self.core.partitions) {
            let sbuf_bytes = self.resident_bytes(depth, u64::from(block), WEIGHT_BYTES);
            let mut after = self.take(via, sbuf_bytes)?;
            after.extend_from_slice(&self.staged);
            let transfer = Transfer {
                queue: DmaQueue::Weights,
                direction: DmaDirection::HbmToSbuf,
                bytes: depth * u64::from(block) * WEIGHT_BYTES,
                partitions: u32::try_from(depth).unwrap_or(u32::MAX).min(self.core.partitions),
            };
            loaded.blocks.push(self.emitter.dma(transfer, source, &after));
            loaded.bytes += sbuf_bytes;
        }
        let blocks = loaded.blocks.clone();
        self.loaded.insert(parameter, loaded);
        Ok(blocks)
    }

    /// Loads a vector (a bias) with one element per partition, once.
    pub(super) fn load_vector(&mut self, parameter: InstrId, via: InstrId) -> Result<Wait, CodegenError> {
        if let Some(wait) = self.loaded.get(&parameter).and_then(|l| l.blocks.last()) {
            return Ok(*wait);
        }
        let elements = self.instruction(parameter)?.shape.elements();
        let sbuf_bytes = self.resident_bytes(elements, 1, IO_BYTES);
        let mut after = self.take(via, sbuf_bytes)?;
        after.extend_from_slice(&self.staged);
        let transfer = Transfer {
            queue: DmaQueue::Weights,
            direction: DmaDirection::HbmToSbuf,
            bytes: elements * IO_BYTES,
            partitions: u32::try_from(elements).unwrap_or(u32::MAX).min(self.core.partitions),
        };
        let source = self.sources.of(via);
        let wait = self.emitter.dma(transfer, source, &after);
        self.loaded.insert(parameter, Loaded { blocks: vec![wait], bytes: sbuf_bytes });
        Ok(wait)
    }

    /// Writes the result to device memory; a lazily executed graph moves it on to where the framework reads it.
    pub(super) fn output(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let Value::Resident(resident) = self.value(id)?.clone() else {
            return Err(self.unsupported(id, "a result that is a weight or a constant"));
        };
        let bytes = resident.partition_elements * resident.free_elements * IO_BYTES;
        self.emitter.executable.memory.output_bytes += bytes;
        let partitions = u32::try_from(resident.partition_elements).unwrap_or(u32::MAX).min(self.core.partitions);
        let source = self.sources.of(id);
        let transfer = Transfer { queue: DmaQueue::Io, direction: DmaDirection::SbufToHbm, bytes, partitions };
        let written = self.emitter.dma(transfer, source, &resident.ready);
        if self.module.workflow.transfers_inputs() {
            let staging = Transfer { direction: DmaDirection::HbmToHbm, partitions: self.core.partitions, ..transfer };
            self.emitter.dma(staging, source, &[written]);
        }
        Ok(())
    }

    /// A custom operator: its operand goes to HBM, the GPSIMD processors work there element by element, and the result
    /// comes back.
    pub(super) fn custom_call(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let operand_id = self.operand(id, 0)?;
        let Value::Resident(operand) = self.value(operand_id)?.clone() else {
            return Err(self.unsupported(id, "a custom operator on a weight or a constant"));
        };
        let elements = operand.partition_elements * operand.free_elements;
        let source = self.sources.of(id);
        let store = Transfer {
            queue: DmaQueue::Custom,
            direction: DmaDirection::SbufToHbm,
            bytes: elements * IO_BYTES,
            partitions: self.core.partitions,
        };
        let stored = self.emitter.dma(store, source, &operand.ready);
        let op = Op::CustomElementwise { elements };
        let done = self.emitter.instruction(Engine::GpSimd, op, Purpose::execution(source), &[stored]);
        let mut after = self.take(id, operand.bytes)?;
        after.push(done);
        let load = Transfer { direction: DmaDirection::HbmToSbuf, ..store };
        let ready = vec![self.emitter.dma(load, source, &after)];
        self.set_resident(id, Resident { ready, ..operand });
        Ok(())
    }
}
