//! Values in the layout that their reader wants: a value in the other layout is transposed block by block through the
//! array.

use super::code::Code;
use super::emitter::{Purpose, latest};
use super::layout::{element_bytes, sbuf_bytes};
use super::places::Places;
use super::plan::Plan;
use super::spill::take;
use super::value::{Layout, Resident, blocks};
use super::work::in_sbuf;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_machine::arch::CoreSpec;
use ns_machine::isa::{Engine, Op, Wait};

/// The value in a layout for the operation `user`, transposed if it has the other layout.
pub(super) fn in_layout(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    user: InstrId,
    layout: Layout,
) -> Result<Resident, StageError> {
    let resident = in_sbuf(plan, places, code, id, layout)?;
    if resident.layout == layout || resident.free_elements == 1 {
        return Ok(resident);
    }
    if let Some(turned) = places.turned(id) {
        return Ok(turned.clone());
    }
    let purpose = Purpose::data_transfer(code.sources.of(user));
    let element_bytes = element_bytes(plan, id);
    let bytes = sbuf_bytes(plan.core, resident.free_elements, resident.partition_elements, element_bytes);
    let mut after = resident.ready.clone();
    after.extend(take(plan, places, code, user, bytes)?);
    let mut turns = Vec::new();
    for rows in resident.partition_blocks(plan.core.partitions) {
        turns.extend(blocks(resident.free_elements, plan.core.partitions).map(|columns| (rows, columns)));
    }
    let ready = latest(turn_blocks(plan.core, code, &turns, purpose, &after));
    code.emitter.check_size()?;
    let turned = Resident {
        layout,
        partition_elements: resident.free_elements,
        free_elements: resident.partition_elements,
        bytes,
        ready,
        groups: 1,
    };
    places.set_turned(id, turned.clone());
    Ok(turned)
}

/// Transposes blocks of rows and columns (at most 128 each) through the array, with as many blocks in a bank of PSUM
/// as it holds; returns the completion of each bank's eviction.
pub(super) fn turn_blocks(
    core: &CoreSpec,
    code: &mut Code<'_>,
    turns: &[(u32, u32)],
    purpose: Purpose,
    after: &[Wait],
) -> Vec<Wait> {
    let mut ready = Vec::new();
    let together = (core.moving_free_max / core.partitions.max(1)).max(1) as usize;
    for bank_full in turns.chunks(together) {
        let (bank, evicted) = code.psum.take();
        let mut after = after.to_vec();
        after.extend(evicted);
        let mut done = Vec::new();
        for &(rows, columns) in bank_full {
            code.emitter.instruction(Engine::Tensor, Op::LdWeights { rows, columns }, purpose, &after);
            let op = Op::Matmul { free: rows, passes: 1 };
            done = vec![code.emitter.instruction(Engine::Tensor, op, purpose, &[])];
        }
        let free = bank_full.iter().map(|(rows, _)| rows).sum();
        let (engine, copy) = (code.engines.less_loaded(), Op::TensorCopy { free });
        code.engines.count(engine, &copy);
        let copied = code.emitter.instruction_from_psum(engine, copy, purpose, &done);
        code.psum.set_evicted(bank, copied);
        ready.push(copied);
    }
    ready
}
