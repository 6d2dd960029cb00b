//! Operations that move little or no data: transposes and reshapes of values in SBUF, slices, joins, table look-ups.

use super::code::Code;
use super::emitter::{Transfer, latest};
use super::layout::{element_bytes, only_gathered, resident_bytes, rows_and_columns};
use super::places::Places;
use super::plan::Plan;
use super::spill::take;
use super::value::{Layout, Resident, Value, matrix_of};
use super::weights::load_vector;
use super::work::in_sbuf;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_machine::cost::decisions::IMAGE_RANK;
use ns_machine::isa::{DmaDirection, DmaQueue};

/// A transpose of a value in SBUF. Its bytes stay the same. Where the last dimension changes, the columns become rows; other
/// permutations only rename blocks.
pub(super) fn transpose_resident(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    permutation: &[u32],
) -> Result<(), StageError> {
    let mut resident = view_of(plan, places, code, id)?;
    let last = permutation.len().saturating_sub(1);
    if permutation.last().is_some_and(|p| *p as usize != last) {
        resident.layout = match resident.layout {
            Layout::FeatureMajor => Layout::RowMajor,
            Layout::RowMajor => Layout::FeatureMajor,
        };
    }
    // A value that convolutions gather is not in SBUF yet.
    if only_gathered(plan, id) {
        resident.layout = Layout::FeatureMajor;
    }
    // An image [n, c, h, w] has its channels on the partitions, whatever the order of its dimensions; as tokens
    // [n, h x w, c] that layout is feature-major.
    if permutation.len() == 3 && permutation == [0, 2, 1] && came_from_image(plan, id) {
        resident.layout = Layout::FeatureMajor;
    }
    set_view(places, id, resident);
    Ok(())
}

/// A reshape of a value in SBUF: the same bytes.
pub(super) fn reshape_resident(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let resident = view_of(plan, places, code, id)?;
    set_view(places, id, resident);
    Ok(())
}

/// A slice of a value in SBUF, read in place.
pub(super) fn slice_resident(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let (whole, part) = (&plan.instruction(plan.operand(id, 0)?)?.shape, &plan.instruction(id)?.shape);
    let mut resident = view_of(plan, places, code, id)?;
    let columns_cut = matrix_of(whole).1 != matrix_of(part).1;
    let keep = |n: u64| (n * part.elements()).div_ceil(whole.elements().max(1)).max(1);
    match (resident.layout, columns_cut) {
        (Layout::FeatureMajor, true) | (Layout::RowMajor, false) => {
            resident.partition_elements = keep(resident.partition_elements);
        }
        _ => resident.free_elements = keep(resident.free_elements),
    }
    set_view(places, id, resident);
    Ok(())
}

/// Joined values are written side by side by their producers, so a join takes no instruction; a weight among them (a
/// class token) is loaded beside the rest.
pub(super) fn concatenate(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let instruction = plan.instruction(id)?;
    let mut ready = Vec::new();
    let mut layout = None;
    for operand in &instruction.operands {
        match *places.value(plan, *operand)? {
            Value::Resident(ref r) => {
                layout.get_or_insert(r.layout);
                ready.extend_from_slice(&r.ready);
            }
            Value::Weight { parameter, via } => ready.push(load_vector(plan, places, code, parameter, via)?),
            Value::Broadcast { of, via, .. } => {
                if let Value::Weight { parameter, .. } = *places.value(plan, of)? {
                    ready.push(load_vector(plan, places, code, parameter, via)?);
                }
            }
            Value::Splat => {}
        }
    }
    let (rows, columns) = rows_and_columns(&instruction.shape);
    let mut resident = Resident::of(layout.unwrap_or(Layout::FeatureMajor), rows, columns);
    resident.ready = latest(ready);
    // The parts keep their space while they are live; the whole only names them.
    set_view(places, id, resident);
    Ok(())
}

/// Rows of a table in device memory, one descriptor per row.
pub(super) fn gather(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    let (rows, columns) = matrix_of(&plan.instruction(id)?.shape);
    let mut resident = Resident::of(Layout::RowMajor, rows, columns);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, id));
    let mut after = take(plan, places, code, id, resident.bytes)?;
    if let Some(indices) = places.resident(plan.operand(id, 1)?) {
        after.extend_from_slice(&indices.ready);
    }
    let source = code.sources.of(id);
    let transfer = Transfer {
        queue: DmaQueue::Io,
        direction: DmaDirection::HbmToSbuf,
        bytes: rows * columns * plan.operand_bytes(id),
        partitions: resident.partitions_used(plan.core.partitions),
        descriptors: rows,
    };
    resident.ready = vec![code.emitter.dma(transfer, source, &after)];
    places.set_resident(id, resident);
    Ok(())
}

/// An update in place: the new part is written to device memory, and readers continue with the whole.
pub(super) fn update_in_place(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    let mut resident = view_of(plan, places, code, id)?;
    let update = plan.operand(id, 1)?;
    if let Value::Resident(new) = places.value(plan, update)? {
        let source = code.sources.of(id);
        let transfer = Transfer {
            queue: DmaQueue::Io,
            direction: DmaDirection::SbufToHbm,
            bytes: plan.instruction(update)?.shape.elements() * plan.operand_bytes(update),
            partitions: plan.core.partitions,
            descriptors: plan.core.partitions.into(),
        };
        code.emitter.dma(transfer, source, &new.ready);
        resident.ready.extend_from_slice(&new.ready);
        resident.ready = latest(resident.ready);
    }
    set_view(places, id, resident);
    Ok(())
}

/// The resident value that a view looks at.
fn view_of(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<Resident, StageError> {
    let operand = plan.operand(id, 0)?;
    if let Value::Broadcast { of, .. } = *places.value(plan, operand)?
        && let Value::Resident(resident) = places.value(plan, of)?
    {
        return Ok(resident.clone());
    }
    in_sbuf(plan, places, code, operand, Layout::FeatureMajor)
}

fn set_view(places: &mut Places, id: InstrId, resident: Resident) {
    places.set_resident(id, Resident { bytes: 0, ..resident });
}

fn came_from_image(plan: &Plan<'_>, id: InstrId) -> bool {
    let operand = plan.operand(id, 0).ok();
    let before = operand.and_then(|o| plan.operand(o, 0).ok()).and_then(|o| plan.find(o));
    before.is_some_and(|i| i.shape.rank() == IMAGE_RANK)
}
