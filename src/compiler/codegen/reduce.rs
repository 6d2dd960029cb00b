//! Reductions: along the free dimension on the vector engine, across partitions through the array.

use super::code::Code;
use super::layout::{resident_bytes, sbuf_bytes};
use super::places::Places;
use super::plan::Plan;
use super::spill::take;
use super::turn::in_layout;
use super::value::{Layout, Resident, blocks};
use super::work::in_sbuf;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::convert::{u64_to_u32, usize_to_u32};
use ns_machine::isa::{Engine, Op};

/// A reduction of the last dimension, or of all of them.
pub(super) fn reduce(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    dimensions: &[u32],
) -> Result<(), StageError> {
    let operand_id = plan.operand(id, 0)?;
    let rank = plan.instruction(operand_id)?.shape.rank();
    if dimensions.len() == rank {
        return reduce_all(plan, places, code, id, operand_id);
    }
    if dimensions.len() == 1 && dimensions[0] as usize + 1 == rank {
        return reduce_last(plan, places, code, id, operand_id);
    }
    reduce_free(plan, places, code, id, operand_id)
}

/// Over dimensions that lie along the free dimension when the features are on the partitions: pixels, tokens.
fn reduce_free(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    operand_id: InstrId,
) -> Result<(), StageError> {
    let operand = in_layout(plan, places, code, operand_id, id, Layout::FeatureMajor)?;
    let kept = plan.instruction(id)?.shape.elements().div_ceil(operand.partition_elements.max(1)).max(1);
    let result = Resident::of(Layout::FeatureMajor, kept, operand.partition_elements);
    let pieces = blocks(operand.partition_elements, plan.core.partitions).count();
    reduce_pieces(plan, places, code, id, &operand, result, pieces)
}

/// Over the last dimension, which lies along the free dimension when the rows are on the partitions.
fn reduce_last(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    operand_id: InstrId,
) -> Result<(), StageError> {
    let operand = in_layout(plan, places, code, operand_id, id, Layout::RowMajor)?;
    let mut result = Resident::of(Layout::RowMajor, operand.partition_elements, 1);
    result.groups = operand.groups;
    let pieces = operand.partition_blocks(plan.core.partitions).count();
    reduce_pieces(plan, places, code, id, &operand, result, pieces)
}

/// One instruction of the vector engine for each piece of the operand; the result has the layout of `result`.
fn reduce_pieces(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    operand: &Resident,
    mut result: Resident,
    pieces: usize,
) -> Result<(), StageError> {
    let purpose = code.execution(id);
    result.bytes = resident_bytes(plan.core, &result, plan.value_bytes(id));
    let mut after = operand.ready.clone();
    after.extend(take(plan, places, code, id, result.bytes)?);
    let along_free = (Engine::Vector, of_free(operand));
    result.ready = code.run(std::iter::repeat_n(along_free, pieces), purpose, &after);
    places.set_resident(id, result);
    Ok(())
}

/// First the sum or maximum of each partition, then one column through the array onto one partition.
fn reduce_all(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    operand_id: InstrId,
) -> Result<(), StageError> {
    let operand = in_sbuf(plan, places, code, operand_id, Layout::RowMajor)?;
    let purpose = code.execution(id);
    let bytes = sbuf_bytes(plan.core, 1, 1, plan.value_bytes(id));
    let mut after = operand.ready.clone();
    after.extend(take(plan, places, code, id, bytes)?);
    let partition_blocks: Vec<u32> = blocks(operand.partition_elements, plan.core.partitions).collect();
    let along_free = (Engine::Vector, of_free(&operand));
    let partial = code.run(partition_blocks.iter().map(|_| along_free), purpose, &after);
    let rows = partition_blocks.first().copied().unwrap_or(1);
    code.emitter.instruction(Engine::Tensor, Op::LdWeights { rows, columns: 1 }, purpose, &partial);
    let free = usize_to_u32(partition_blocks.len()).min(plan.core.moving_free_max);
    let across = code.emitter.instruction(Engine::Tensor, Op::Matmul { free, passes: 1 }, purpose, &[]);
    let sum = Op::TensorReduce { free };
    let done = code.emitter.instruction_from_psum(Engine::Vector, sum, purpose, &[across]);
    places.set_resident(id, Resident { bytes, ready: vec![done], ..Resident::of(Layout::FeatureMajor, 1, 1) });
    Ok(())
}

/// The reduction of each partition of a value.
fn of_free(value: &Resident) -> Op {
    Op::TensorReduce { free: u64_to_u32(value.free_elements) }
}
