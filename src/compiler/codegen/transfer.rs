//! Moving data: inputs, results, and the operands of custom operators.

use super::code::Code;
use super::emitter::{Purpose, Transfer, latest};
use super::layout::{only_gathered, only_matmuls_read, resident_bytes, sbuf_bytes, wanted_layout};
use super::places::Places;
use super::plan::Plan;
use super::spill::{begin_output, take};
use super::turn::turn_blocks;
use super::value::{Layout, Resident, blocks, matrix_of};
use super::work::in_sbuf;
use crate::error::StageError;
use crate::hlo::{InstrId, Opcode, ParameterRole};
use ns_base::refuse;
use ns_kernel::{ModelKernel, TABLE_GRADIENT, TABLE_KERNEL};
use ns_machine::SourceId;
use ns_machine::cost::GpsimdCosts;
use ns_machine::cost::decisions::IO_ELEMENT_BYTES;
use ns_machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};

/// Brings an input into SBUF. In a lazily executed graph the step itself first moves it to where the executable
/// reads it; a traced model finds it there.
pub(super) fn input(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    let (rows, columns) = matrix_of(&plan.instruction(id)?.shape);
    let bytes = rows.saturating_mul(columns).saturating_mul(plan.io_bytes(id));
    code.memory.input_bytes += bytes;
    let staged = plan.module.workflow.transfers_inputs();
    // In a traced model there is no input operation: the load is part of the operation that reads it.
    let source = code.sources.of(if staged { id } else { plan.first_reader(id) });
    let partitions = plan.core.partitions;
    let mut after = Vec::new();
    if staged {
        let staging = Transfer { direction: DmaDirection::HbmToHbm, descriptors: 1, ..io(bytes, partitions) };
        let moved = code.emitter.dma(staging, source, &[]);
        after.push(moved);
        // In a lazily executed graph weights are parameters like the inputs: the graph reads them once its inputs are
        // there.
        places.staged.push(moved);
    }
    // The descriptors can read one block transposed. A larger input is transposed through the array, block by block
    // as it arrives, when only matmuls read it and none wants it as it lies.
    let one_block = rows <= u64::from(partitions) && columns <= u64::from(partitions);
    let feature_major = Resident::of(Layout::FeatureMajor, rows, columns);
    let resident = if only_gathered(plan, id) {
        // The convolution gathers its patches from device memory.
        Resident { ready: after, ..feature_major }
    } else if one_block {
        load_input(plan, places, code, (id, source), feature_major, &after)?
    } else if only_matmuls_read(plan, id) && wanted_layout(plan, id) == Layout::FeatureMajor {
        load_and_turn(plan, places, code, (id, source), feature_major, &after)?
    } else {
        let row_major = Resident::of(Layout::RowMajor, rows, columns);
        load_input(plan, places, code, (id, source), row_major, &after)?
    };
    places.set_resident(id, resident);
    Ok(())
}

/// A transfer of an input into SBUF, a line for each partition.
fn io(bytes: u64, partitions: u32) -> Transfer {
    let descriptors = partitions.into();
    Transfer { queue: DmaQueue::Io, direction: DmaDirection::HbmToSbuf, bytes, partitions, descriptors }
}

fn load_input(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    (id, source): (InstrId, SourceId),
    wanted: Resident,
    after: &[Wait],
) -> Result<Resident, StageError> {
    let element_bytes = plan.io_bytes(id);
    let bytes = resident_bytes(plan.core, &wanted, element_bytes);
    let mut after = after.to_vec();
    after.extend(take(plan, places, code, id, bytes)?);
    let moved = wanted.partition_elements * wanted.free_elements * element_bytes;
    let transfer = io(moved, wanted.partitions_used(plan.core.partitions));
    let ready = vec![code.emitter.dma(transfer, source, &after)];
    Ok(Resident { bytes, ready, ..wanted })
}

/// Loads an input row by row of blocks, and transposes each row of blocks as soon as it has arrived.
fn load_and_turn(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    (id, source): (InstrId, SourceId),
    turned: Resident,
    after: &[Wait],
) -> Result<Resident, StageError> {
    let (rows, columns) = (turned.free_elements, turned.partition_elements);
    let bytes = resident_bytes(plan.core, &turned, plan.operand_bytes(id));
    let room = take(plan, places, code, id, bytes)?;
    let mut ready = Vec::new();
    for block in blocks(rows, plan.core.partitions) {
        let block_bytes = sbuf_bytes(plan.core, u64::from(block), columns, plan.io_bytes(id));
        let mut after = after.to_vec();
        after.extend(take(plan, places, code, id, block_bytes)?);
        let transfer = io(u64::from(block) * columns * plan.io_bytes(id), block);
        let mut loaded = vec![code.emitter.dma(transfer, source, &after)];
        loaded.extend_from_slice(&room);
        let turns: Vec<(u32, u32)> = blocks(columns, plan.core.partitions).map(|columns| (block, columns)).collect();
        let done = turn_blocks(plan.core, code, &turns, Purpose::data_transfer(source), &loaded);
        places.ring.release(block_bytes, latest(done.clone()));
        ready.extend(done);
    }
    Ok(Resident { bytes, ready: latest(ready), ..turned })
}

/// Writes the result to device memory; a lazily executed graph moves it on to where the framework reads it.
pub(super) fn output(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    begin_output(plan, places, code, id)?;
    let resident = in_sbuf(plan, places, code, id, Layout::RowMajor)?;
    let bytes = resident.partition_elements * resident.free_elements * plan.io_bytes(id);
    code.memory.output_bytes += bytes;
    let source = code.sources.of(id);
    let partitions = resident.partitions_used(plan.core.partitions);
    let transfer = Transfer { direction: DmaDirection::SbufToHbm, ..io(bytes, partitions) };
    let written = code.emitter.dma(transfer, source, &resident.ready);
    if plan.module.workflow.transfers_inputs() {
        let (direction, partitions) = (DmaDirection::HbmToHbm, plan.core.partitions);
        let staging = Transfer { direction, partitions, descriptors: 1, ..transfer };
        code.emitter.dma(staging, source, &[written]);
    }
    Ok(())
}

/// Writes the new value of a weight to device memory: in its own type, and beside it as the products read it.
pub(super) fn assign(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    let resident = in_sbuf(plan, places, code, plan.operand(id, 0)?, Layout::RowMajor)?;
    let Opcode::Copy { assigns } = &plan.instruction(id)?.opcode else { return Ok(()) };
    let mut weights = plan.module.instructions.iter_enumerated().filter(
        |(_, i)| matches!(&i.opcode, Opcode::Parameter { role: ParameterRole::Weight(path), .. } if path == assigns),
    );
    let bytes = weights.next().map_or(0, |(weight, i)| plan.weight_bytes(weight, i));
    let partitions = resident.partitions_used(plan.core.partitions);
    let transfer = Transfer { queue: DmaQueue::Weights, direction: DmaDirection::SbufToHbm, ..io(bytes, partitions) };
    let source = code.sources.of(id);
    let written = code.emitter.dma(transfer, source, &resident.ready);
    places.set_resident(id, Resident { bytes: 0, ready: vec![written], ..resident });
    Ok(())
}

/// A custom operator: its operands move to HBM, the GPSIMD processors work there element by element, and the result
/// moves back.
pub(super) fn custom_call(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let operand = in_sbuf(plan, places, code, plan.operand(id, 0)?, Layout::RowMajor)?;
    let elements = operand.partition_elements * operand.free_elements;
    let source = code.sources.of(id);
    let others = plan.instruction(id)?.operands.get(1..).unwrap_or(&[]);
    let mut ready = operand.ready.clone();
    for other in others {
        ready.extend(in_sbuf(plan, places, code, *other, Layout::RowMajor)?.ready);
    }
    let operands = 1 + others.len() as u64;
    let store = Transfer {
        queue: DmaQueue::Custom,
        direction: DmaDirection::SbufToHbm,
        bytes: operands * elements * IO_ELEMENT_BYTES,
        partitions: plan.core.partitions,
        descriptors: plan.core.partitions.into(),
    };
    let stored = code.emitter.dma(store, source, &ready);
    // An element is read once for each operand and written once; the table's time is that of one of each.
    let op = custom_op(plan, id, elements * (operands + 1) / 2)?;
    let done = code.emitter.instruction(Engine::GpSimd, op, Purpose::execution(source), &[stored]);
    let mut after = take(plan, places, code, id, operand.bytes)?;
    after.push(done);
    let load = Transfer { direction: DmaDirection::HbmToSbuf, bytes: elements * IO_ELEMENT_BYTES, ..store };
    let ready = vec![code.emitter.dma(load, source, &after)];
    places.set_resident(id, Resident { ready, ..operand });
    Ok(())
}

/// The instruction of a custom operator: its time is the time of its kernel on operands of that shape.
fn custom_op(plan: &Plan<'_>, id: InstrId, elements: u64) -> Result<Op, StageError> {
    let instruction = plan.instruction(id)?;
    let target = match &instruction.opcode {
        Opcode::CustomCall { target } if ![TABLE_KERNEL, TABLE_GRADIENT].contains(&target.as_str()) => target,
        _ => return Ok(Op::CustomElementwise { elements }),
    };
    let path = &instruction.metadata.op_name;
    let fail = |e| StageError::at(path.clone(), refuse!("{path}: {e}"));
    let kernel = ModelKernel::find(target).map_err(fail)?;
    let cost = kernel
        .cost(&instruction.shape.dims, instruction.operands.len(), &GpsimdCosts::of(&plan.costs))
        .map_err(fail)?;
    Ok(Op::CustomKernel { elements, time_ps: cost.time_ps, mhz: plan.costs.core.gpsimd_mhz })
}
