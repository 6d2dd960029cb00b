//! Operations that are placed by their cost: sorts, scatters, operators without a known meaning.

use super::code::Code;
use super::emitter::{Purpose, Transfer, latest};
use super::layout::{element_bytes, resident_bytes};
use super::places::Places;
use super::plan::Plan;
use super::spill::take;
use super::value::{Layout, Resident, Value, blocks, matrix_of};
use super::weights::load_whole;
use crate::error::StageError;
use crate::hlo::{InstrId, Work, WorkKind};
use ns_machine::cost::decisions::SBUF_CHUNK_ELEMENTS;
use ns_machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};

/// Waits for all operands, does the work, and leaves the result in SBUF.
pub(super) fn work(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    work: &Work,
) -> Result<(), StageError> {
    let mut after = operands_ready(plan, places, code, id)?;
    let (rows, columns) = matrix_of(&plan.instruction(id)?.shape);
    let mut resident = Resident::of(Layout::RowMajor, rows, columns);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, id));
    after.extend(take(plan, places, code, id, resident.bytes)?);
    resident.ready = match work.kind {
        WorkKind::Vector => passes(plan, code, id, work, Engine::Vector, &after),
        WorkKind::GpSimd => passes(plan, code, id, work, Engine::GpSimd, &after),
        WorkKind::Move => through_memory(plan, code, id, work, rows, &after),
    };
    places.set_resident(id, resident);
    Ok(())
}

/// Elementwise work without an operand of the result's size in SBUF: small values are combined with repeated ones. One pass
/// over the result.
pub(super) fn elementwise_of_parts(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let instruction = plan.instruction(id)?;
    let name = instruction.opcode.name().to_owned();
    let elements = instruction.shape.elements();
    let one_pass = Work { name, kind: WorkKind::Vector, elements, passes: 1 };
    work(plan, places, code, id, &one_pass)
}

/// A value as an array in SBUF, for a reader that wants one: a weight is loaded whole, a constant or a repeated value is written
/// out in one pass.
pub(super) fn in_sbuf(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    layout: Layout,
) -> Result<Resident, StageError> {
    match *places.value(plan, id)? {
        Value::Resident(ref resident) => Ok(resident.clone()),
        Value::Weight { parameter, via } => load_whole(plan, places, code, (parameter, via), layout),
        Value::Splat | Value::Broadcast { .. } => {
            elementwise_of_parts(plan, places, code, id)?;
            places.resident(id).cloned().ok_or_else(|| plan.unsupported(id, "an array of a constant"))
        }
    }
}

fn operands_ready(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<Vec<Wait>, StageError> {
    let mut ready = Vec::new();
    for operand in &plan.instruction(id)?.operands {
        let value = match places.value(plan, *operand)? {
            Value::Broadcast { of, .. } => places.value(plan, *of)?,
            other => other,
        };
        match *value {
            Value::Resident(ref resident) => ready.extend_from_slice(&resident.ready),
            Value::Weight { parameter, via } => {
                ready.extend(load_whole(plan, places, code, (parameter, via), Layout::RowMajor)?.ready);
            }
            Value::Splat | Value::Broadcast { .. } => {}
        }
    }
    Ok(latest(ready))
}

/// Passes of an engine over the elements, spread over the partitions.
fn passes(plan: &Plan<'_>, code: &mut Code<'_>, id: InstrId, work: &Work, engine: Engine, after: &[Wait]) -> Vec<Wait> {
    let purpose = Purpose::execution(code.sources.of(id));
    let each = work.elements.div_ceil(u64::from(plan.core.partitions)).max(1);
    let mut ready = after.to_vec();
    for _ in 0..work.passes.max(1) {
        let pieces = blocks(each, SBUF_CHUNK_ELEMENTS).map(|free| (engine, Op::TensorScalar { free }));
        ready = code.run(pieces, purpose, &ready);
    }
    ready
}

/// Rows added to rows of a table of zeros: the zeros in one pass, then a round trip of the rows through device memory, one descriptor
/// for each row.
pub(super) fn scatter(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let mut after = operands_ready(plan, places, code, id)?;
    let added_id = plan.operand(id, 2)?;
    let added = &plan.instruction(added_id)?.shape;
    let (rows, _) = matrix_of(added);
    let (all, columns) = matrix_of(&plan.instruction(id)?.shape);
    let mut resident = Resident::of(Layout::RowMajor, all, columns);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, id));
    after.extend(take(plan, places, code, id, resident.bytes)?);
    let one_pass = |elements: u64| Work { name: String::new(), kind: WorkKind::Vector, elements, passes: 1 };
    let zeros = passes(plan, code, id, &one_pass(all * columns), Engine::Vector, &after);
    let source = code.sources.of(id);
    let back = Transfer {
        queue: DmaQueue::Spill,
        direction: DmaDirection::HbmToSbuf,
        bytes: added.elements().saturating_mul(plan.value_bytes(added_id)),
        partitions: plan.core.partitions,
        descriptors: rows,
    };
    let read = code.emitter.dma(back, source, &zeros);
    let sums = passes(plan, code, id, &one_pass(added.elements()), Engine::Vector, &[read]);
    let out = Transfer { direction: DmaDirection::SbufToHbm, ..back };
    resident.ready = vec![code.emitter.dma(out, source, &sums)];
    places.set_resident(id, resident);
    Ok(())
}

/// A round trip through device memory, one descriptor for each row of the result.
fn through_memory(
    plan: &Plan<'_>,
    code: &mut Code<'_>,
    id: InstrId,
    work: &Work,
    rows: u64,
    after: &[Wait],
) -> Vec<Wait> {
    let source = code.sources.of(id);
    let out = Transfer {
        queue: DmaQueue::Spill,
        direction: DmaDirection::SbufToHbm,
        bytes: work.elements.saturating_mul(plan.value_bytes(id)),
        partitions: plan.core.partitions,
        descriptors: plan.core.partitions.into(),
    };
    let stored = code.emitter.dma(out, source, after);
    let back = Transfer { direction: DmaDirection::HbmToSbuf, descriptors: rows, ..out };
    vec![code.emitter.dma(back, source, &[stored])]
}
