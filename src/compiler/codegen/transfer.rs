//! Moving data: inputs, weights, results, and the operands of custom operators.

use super::CodegenError;
use super::emitter::{Purpose, Transfer};
use super::program::{Generator, Loaded, latest};
use super::value::{Layout, Resident, Value, blocks, matrix_of};
use crate::compiler::hlo::{InstrId, Opcode};
use crate::kernel::{ModelKernel, TABLE_KERNEL};
use crate::machine::SourceId;
use crate::machine::cost::GpsimdCosts;
use crate::machine::cost::decisions::IO_ELEMENT_BYTES;
use crate::machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};

/// A weight as the stationary operand of a dot.
pub(super) struct WeightMatrix {
    pub parameter: InstrId,
    /// The view the dot reads it through.
    pub via: InstrId,
    /// Contracted size.
    pub depth: u64,
    /// Result columns.
    pub columns: u64,
}

impl Generator<'_> {
    /// Brings an input into SBUF. In a lazily executed graph the step itself first moves it to where the executable
    /// reads it; a traced model finds it there.
    pub(super) fn input(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let (rows, columns) = matrix_of(&self.instruction(id)?.shape);
        let bytes = rows.saturating_mul(columns).saturating_mul(IO_ELEMENT_BYTES);
        self.emitter.executable.memory.input_bytes += bytes;
        let staged = self.module.workflow.transfers_inputs();
        // Under a traced model there is no input operation: the load is part of the operation that reads it.
        let source = self.sources.of(if staged { id } else { self.first_reader(id) });
        let partitions = self.core.partitions;
        let mut after = Vec::new();
        if staged {
            let direction = DmaDirection::HbmToHbm;
            let moved = self.emitter.dma(
                Transfer { queue: DmaQueue::Io, direction, bytes, partitions, short_descriptors: 0 },
                source,
                &[],
            );
            after.push(moved);
            // Weights are parameters of a lazily executed graph like its inputs: it reads them once those are there.
            self.staged.push(moved);
        }
        // One block can be read transposed by its descriptors. A larger input is turned through the array, block by
        // block as it arrives, when only matmuls read it.
        let one_block = rows <= u64::from(partitions) && columns <= u64::from(partitions);
        let resident = if self.only_gathered(id) {
            // The convolution gathers its patches from device memory.
            Resident { ready: after, ..Resident::of(Layout::FeatureMajor, rows, columns) }
        } else if one_block {
            self.load_input(id, source, Layout::FeatureMajor, (columns, rows), &after)?
        } else if self.only_matmuls_read(id) {
            self.load_and_turn(id, source, (rows, columns), &after)?
        } else {
            self.load_input(id, source, Layout::RowMajor, (rows, columns), &after)?
        };
        self.set_resident(id, resident);
        Ok(())
    }

    fn load_input(
        &mut self,
        id: InstrId,
        source: SourceId,
        layout: Layout,
        (partition_elements, free_elements): (u64, u64),
        after: &[Wait],
    ) -> Result<Resident, CodegenError> {
        let bytes = self.resident_bytes(partition_elements, free_elements, IO_ELEMENT_BYTES);
        let mut after = after.to_vec();
        after.extend(self.take(id, bytes)?);
        let transfer = Transfer {
            queue: DmaQueue::Io,
            direction: DmaDirection::HbmToSbuf,
            bytes: partition_elements * free_elements * IO_ELEMENT_BYTES,
            partitions: u32::try_from(partition_elements).unwrap_or(u32::MAX).min(self.core.partitions),
            short_descriptors: 0,
        };
        let ready = vec![self.emitter.dma(transfer, source, &after)];
        Ok(Resident { layout, partition_elements, free_elements, bytes, ready, groups: 1 })
    }

    fn load_and_turn(
        &mut self,
        id: InstrId,
        source: SourceId,
        (rows, columns): (u64, u64),
        after: &[Wait],
    ) -> Result<Resident, CodegenError> {
        let bytes = self.resident_bytes(columns, rows, self.precision.operand_bytes);
        let room = self.take(id, bytes)?;
        let mut ready = Vec::new();
        for block in blocks(rows, self.core.partitions) {
            let block_bytes = self.resident_bytes(u64::from(block), columns, IO_ELEMENT_BYTES);
            let mut after = after.to_vec();
            after.extend(self.take(id, block_bytes)?);
            let transfer = Transfer {
                queue: DmaQueue::Io,
                direction: DmaDirection::HbmToSbuf,
                bytes: u64::from(block) * columns * IO_ELEMENT_BYTES,
                partitions: block,
                short_descriptors: 0,
            };
            let mut loaded = vec![self.emitter.dma(transfer, source, &after)];
            loaded.extend_from_slice(&room);
            let turns: Vec<(u32, u32)> =
                blocks(columns, self.core.partitions).map(|columns| (block, columns)).collect();
            let turned = self.turn_blocks(&turns, Purpose::data_transfer(source), &loaded);
            self.ring.release(block_bytes, latest(turned.clone()));
            ready.extend(turned);
        }
        let layout = Layout::FeatureMajor;
        Ok(Resident {
            layout,
            partition_elements: columns,
            free_elements: rows,
            bytes,
            ready: latest(ready),
            groups: 1,
        })
    }

    /// Loads a weight matrix in blocks of result columns, once; the completion of each block.
    pub(super) fn load_matrix(&mut self, matrix: &WeightMatrix) -> Result<Vec<Wait>, CodegenError> {
        if let Some(loaded) = self.loaded.get(&matrix.parameter) {
            return Ok(loaded.blocks.clone());
        }
        let mut loaded = Loaded::default();
        for block in blocks(matrix.columns, self.core.partitions) {
            let (wait, bytes) = self.load_block(matrix, block)?;
            loaded.blocks.push(wait);
            loaded.bytes += bytes;
        }
        let blocks = loaded.blocks.clone();
        self.loaded.insert(matrix.parameter, loaded);
        Ok(blocks)
    }

    /// Loads one block of a weight matrix for the product that reads it; its completion and the SBUF it takes.
    pub(super) fn load_block(&mut self, matrix: &WeightMatrix, columns: u32) -> Result<(Wait, u64), CodegenError> {
        let bytes = self.resident_bytes(matrix.depth, u64::from(columns), self.precision.operand_bytes);
        let mut after = self.take(matrix.via, bytes)?;
        after.extend_from_slice(&self.staged);
        let transfer = Transfer {
            queue: DmaQueue::Weights,
            direction: DmaDirection::HbmToSbuf,
            bytes: matrix.depth * u64::from(columns) * self.precision.operand_bytes,
            partitions: u32::try_from(matrix.depth).unwrap_or(u32::MAX).min(self.core.partitions),
            short_descriptors: 0,
        };
        let source = self.sources.of_reader(matrix.via);
        Ok((self.emitter.dma(transfer, source, &after), bytes))
    }

    /// A weight that is used as it is, like a table of positions: loaded whole, once.
    pub(super) fn load_whole(
        &mut self,
        parameter: InstrId,
        via: InstrId,
        layout: Layout,
    ) -> Result<Resident, CodegenError> {
        let (rows, columns) = matrix_of(&self.instruction(via)?.shape);
        let mut resident = Resident::of(layout, rows, columns);
        resident.ready = vec![self.load_vector(parameter, via)?];
        Ok(resident)
    }

    /// Loads a vector (a bias) with one element per partition, once.
    pub(super) fn load_vector(&mut self, parameter: InstrId, via: InstrId) -> Result<Wait, CodegenError> {
        if let Some(wait) = self.loaded.get(&parameter).and_then(|l| l.blocks.last()) {
            return Ok(*wait);
        }
        let elements = self.instruction(parameter)?.shape.elements();
        let sbuf_bytes = self.resident_bytes(elements, 1, IO_ELEMENT_BYTES);
        let mut after = self.take(via, sbuf_bytes)?;
        after.extend_from_slice(&self.staged);
        let transfer = Transfer {
            queue: DmaQueue::Weights,
            direction: DmaDirection::HbmToSbuf,
            bytes: elements * IO_ELEMENT_BYTES,
            partitions: u32::try_from(elements).unwrap_or(u32::MAX).min(self.core.partitions),
            short_descriptors: 0,
        };
        let source = self.sources.of_reader(via);
        let wait = self.emitter.dma(transfer, source, &after);
        self.loaded.insert(parameter, Loaded { blocks: vec![wait], bytes: sbuf_bytes });
        Ok(wait)
    }

    /// Writes the result to device memory; a lazily executed graph moves it on to where the framework reads it.
    pub(super) fn output(&mut self, id: InstrId) -> Result<(), CodegenError> {
        self.begin_output(id)?;
        let Value::Resident(resident) = self.value(id)?.clone() else {
            return Err(self.unsupported(id, "a result that is a weight or a constant"));
        };
        let bytes = resident.partition_elements * resident.free_elements * IO_ELEMENT_BYTES;
        self.emitter.executable.memory.output_bytes += bytes;
        let partitions = u32::try_from(resident.partition_elements).unwrap_or(u32::MAX).min(self.core.partitions);
        let source = self.sources.of(id);
        let transfer = Transfer {
            queue: DmaQueue::Io,
            direction: DmaDirection::SbufToHbm,
            bytes,
            partitions,
            short_descriptors: 0,
        };
        let written = self.emitter.dma(transfer, source, &resident.ready);
        if self.module.workflow.transfers_inputs() {
            let staging = Transfer { direction: DmaDirection::HbmToHbm, partitions: self.core.partitions, ..transfer };
            self.emitter.dma(staging, source, &[written]);
        }
        Ok(())
    }

    /// The instruction of a custom operator: its time is that of its kernel on the operand's shape.
    fn custom_op(&self, id: InstrId, elements: u64) -> Result<Op, CodegenError> {
        let instruction = self.instruction(id)?;
        let target = match &instruction.opcode {
            Opcode::CustomCall { target } if target != TABLE_KERNEL => target,
            _ => return Ok(Op::CustomElementwise { elements }),
        };
        let fail =
            |source| CodegenError::Kernel { path: instruction.metadata.op_name.clone(), source: Box::new(source) };
        let kernel = ModelKernel::find(target).map_err(fail)?;
        let cost = kernel.cost(&instruction.shape.dims, &GpsimdCosts::of(&self.costs)).map_err(fail)?;
        Ok(Op::CustomKernel { elements, time_ps: cost.time_ps })
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
            bytes: elements * IO_ELEMENT_BYTES,
            partitions: self.core.partitions,
            short_descriptors: 0,
        };
        let stored = self.emitter.dma(store, source, &operand.ready);
        let op = self.custom_op(id, elements)?;
        let done = self.emitter.instruction(Engine::GpSimd, op, Purpose::execution(source), &[stored]);
        let mut after = self.take(id, operand.bytes)?;
        after.push(done);
        let load = Transfer { direction: DmaDirection::HbmToSbuf, ..store };
        let ready = vec![self.emitter.dma(load, source, &after)];
        self.set_resident(id, Resident { ready, ..operand });
        Ok(())
    }
}
