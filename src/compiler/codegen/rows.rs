//! Operations on whole rows, norms and softmax. The machine has instructions for their parts.
//!
//! Rows are on the partitions. A layer norm is three passes of the vector engine: the statistics of each row, then the
//! row less its mean times the weight, then that product times the reciprocal deviation plus the bias. Weight and bias
//! lie along the rows. The weight comes from PSUM, where the array repeats it over the partitions; the bias comes from
//! SBUF, which makes its pass twice as long. Where only products read the result, the rows are transposed first, and
//! weight and bias are applied as the transposed blocks leave PSUM: along the partitions they are scalars. An RMS norm
//! has no mean to subtract: the scalar engine squares the row and sums the squares in one pass (`activation_reduce`,
//! max(64, N) + 64 cycles), the vector engine computes the reciprocal root of the sum, and one more pass multiplies the
//! row by the root and the weight. A softmax is the maximum in one pass of the vector engine, the exponential with its
//! sum in one pass of the scalar engine, and the quotient in one pass of the vector engine; scores are read from PSUM
//! directly.

use super::code::Code;
use super::emitter::{Purpose, latest};
use super::idioms::{Norm, Softmax};
use super::layout::{element_bytes, only_matmuls_read, resident_bytes};
use super::lazy;
use super::places::Places;
use super::plan::Plan;
use super::sources::Sources;
use super::spill::take;
use super::tiles::{InFlight, SQUARE, StepKind, TileStep, TileStream};
use super::turn::{in_layout, turn_blocks};
use super::value::{Layout, Resident, Value, blocks};
use super::weights::load_vector;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::convert::u64_to_u32;
use ns_machine::arch::CoreSpec;
use ns_machine::cost::decisions::STATISTICS_CHUNK_ELEMENTS;
use ns_machine::isa::Wait;

/// Emits a norm at its first instruction.
pub(super) fn norm(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, norm: &Norm) -> Result<(), StageError> {
    let user = norm.centring.map_or(norm.squares, |(sum, _)| sum);
    let rows = in_layout(plan, places, code, norm.of, user, Layout::RowMajor)?;
    let affine = affine_rows(plan, places, code, norm.result)?;
    let mut steps = statistics_steps(&mut code.sources, norm, rows.free_elements);
    let result = code.sources.of(norm.result);
    let centred = norm.centring.map_or(result, |(_, centred)| code.sources.of(centred));
    let turned = only_matmuls_read(plan, norm.result);
    let mut resident = if turned {
        steps.push(TileStep::of(centred, StepKind::RowScale, Vec::new()));
        Resident::of(Layout::FeatureMajor, rows.partition_elements, rows.free_elements)
    } else {
        let scaled = if norm.scales { StepKind::TensorsRepeated } else { StepKind::RowScale };
        steps.push(TileStep::of(centred, scaled, affine.clone()));
        if norm.shifts {
            steps.push(TileStep::of(result, StepKind::Tensors { of_main: false }, affine.clone()));
        }
        Resident { bytes: 0, ready: Vec::new(), ..rows.clone() }
    };
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, norm.result));
    let room = take(plan, places, code, norm.result, resident.bytes)?;
    let purpose = Purpose::execution(result);
    let normalised = emit_rows(plan.core, code, &rows, &steps, &room, purpose);
    let ready = if turned { turn_rows(plan.core, code, &rows, &normalised, &affine, purpose) } else { normalised };
    resident.ready = latest(ready);
    places.absorb(&norm.parts, &resident);
    places.set_resident(norm.result, resident);
    places.set_done(norm.result);
    Ok(())
}

/// Mean and reciprocal deviation of each row, or the reciprocal root of its mean square.
fn statistics_steps(sources: &mut Sources<'_>, norm: &Norm, row: u64) -> Vec<TileStep> {
    let own = |kind, source| TileStep::of(source, kind, Vec::new());
    let Some((sum, _)) = norm.centring else {
        let sources = [norm.squares, norm.deviation].map(|id| sources.of(id));
        return vec![own(StepKind::FunctionSum(SQUARE), sources[0]), own(StepKind::RowScalar, sources[1])];
    };
    let chunks = u64_to_u32(row.div_ceil(u64::from(STATISTICS_CHUNK_ELEMENTS))).max(1);
    let sources = [sum, norm.squares, norm.deviation].map(|id| sources.of(id));
    let mut steps = vec![own(StepKind::RowStatistic { chunks }, sources[0]); chunks as usize];
    if chunks > 1 {
        steps.push(own(StepKind::RowScalar, sources[1]));
    }
    steps.push(own(StepKind::RowScalar, sources[2]));
    steps
}

/// Transposes normalised rows through the array, each block as soon as it is ready; weight and bias are applied as
/// the transposed blocks leave PSUM.
fn turn_rows(
    core: &CoreSpec,
    code: &mut Code<'_>,
    rows: &Resident,
    blocks_ready: &[Wait],
    affine: &[Wait],
    purpose: Purpose,
) -> Vec<Wait> {
    let mut ready = Vec::new();
    for (here, block_ready) in rows.partition_blocks(core.partitions).zip(blocks_ready) {
        let columns = blocks(rows.free_elements, core.partitions);
        let turns: Vec<(u32, u32)> = columns.map(|columns| (here, columns)).collect();
        let mut after = vec![*block_ready];
        after.extend_from_slice(affine);
        ready.extend(turn_blocks(core, code, &turns, purpose, &after));
    }
    ready
}

/// Emits a whole softmax of a value in SBUF. The walk calls it at the first reduction of the softmax.
pub(super) fn softmax(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    softmax: &Softmax,
) -> Result<(), StageError> {
    let rows = in_layout(plan, places, code, softmax.of, softmax.max, Layout::RowMajor)?;
    let mut resident = Resident { bytes: 0, ready: Vec::new(), ..rows.clone() };
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, softmax.result));
    let room = take(plan, places, code, softmax.result, resident.bytes)?;
    let steps = softmax_steps(&mut code.sources, softmax);
    let purpose = code.execution(softmax.result);
    resident.ready = latest(emit_rows(plan.core, code, &rows, &steps, &room, purpose));
    absorb_softmax(places, softmax, &resident);
    places.set_resident(softmax.result, resident);
    Ok(())
}

/// The steps of one block of rows.
pub(super) fn softmax_steps(sources: &mut Sources<'_>, softmax: &Softmax) -> Vec<TileStep> {
    let steps = [
        (StepKind::RowStatistic { chunks: 1 }, softmax.max),
        (StepKind::FunctionSum("exponential"), softmax.exponential),
        (StepKind::RowScale, softmax.result),
    ];
    steps.into_iter().map(|(kind, id)| TileStep::of(sources.of(id), kind, Vec::new())).collect()
}

/// Marks the parts of a softmax as computed.
pub(super) fn absorb_softmax(places: &mut Places, softmax: &Softmax, result: &Resident) {
    places.absorb(&softmax.parts, result);
    places.set_done(softmax.result);
}

/// Emits steps for every block of rows; returns the completion of each block in order.
fn emit_rows(
    core: &CoreSpec,
    code: &mut Code<'_>,
    rows: &Resident,
    steps: &[TileStep],
    room: &[Wait],
    purpose: Purpose,
) -> Vec<Wait> {
    let mut after = rows.ready.clone();
    after.extend_from_slice(room);
    let free = u64_to_u32(rows.free_elements);
    let mut pipeline = TileStream::new(steps, purpose);
    for _ in rows.partition_blocks(core.partitions) {
        pipeline.enter(code, InFlight::new(free, None, after.clone()));
    }
    pipeline.drain(code)
}

/// What must be complete before weight and bias of a norm are read.
fn affine_rows(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    result: InstrId,
) -> Result<Vec<Wait>, StageError> {
    let mut waits = Vec::new();
    for (id, member) in lazy::members_of(plan, places, result) {
        if !lazy::define(places, id, member) {
            continue;
        }
        if let Value::Broadcast { of, via, .. } = *places.value(plan, id)?
            && let Some(Value::Weight { parameter, .. }) = places.find(of)
        {
            let parameter = *parameter;
            waits.push(load_vector(plan, places, code, parameter, via)?);
        }
    }
    Ok(waits)
}
