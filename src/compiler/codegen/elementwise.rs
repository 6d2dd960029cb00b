//! Elementwise work on values in SBUF.

use super::chain::plan_steps;
use super::code::Code;
use super::emitter::{Purpose, latest};
use super::layout::{element_bytes, resident_bytes, rows_and_columns, wanted_layout};
use super::places::Places;
use super::plan::{Members, Plan};
use super::spill::take;
use super::tiles::{InFlight, TileStep, TileStream};
use super::value::{Resident, blocks};
use super::work::elementwise_of_parts;
use crate::error::StageError;
use crate::hlo::{InstrId, Opcode};
use ns_machine::cost::decisions::SBUF_CHUNK_ELEMENTS;
use ns_machine::isa::Wait;

/// An elementwise instruction or fusion whose main operand is in SBUF.
pub(super) fn elementwise(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    members: &Members<'_>,
) -> Result<(), StageError> {
    let Some((main, resident)) = main_operand(plan, places, id, members) else {
        return elementwise_of_parts(plan, places, code, id);
    };
    let steps = plan_steps(plan, places, code, members, main, &resident)?;
    let purpose = code.execution(id);
    let mut after = resident.ready.clone();
    after.extend(take(plan, places, code, id, resident.bytes)?);
    let ready = run_steps(plan.core.partitions, code, &steps, &resident, &after, purpose);
    places.set_resident(id, Resident { ready, ..resident });
    Ok(())
}

/// Runs the steps that follow a product's eviction on values in SBUF.
pub(super) fn run_apart(
    partitions: u32,
    code: &mut Code<'_>,
    steps: &[TileStep],
    resident: &mut Resident,
    purpose: Purpose,
) {
    if !steps.is_empty() {
        code.engines.begin_operation();
        let ready = std::mem::take(&mut resident.ready);
        resident.ready = run_steps(partitions, code, steps, resident, &ready, purpose);
    }
}

fn run_steps(
    partitions: u32,
    code: &mut Code<'_>,
    steps: &[TileStep],
    resident: &Resident,
    after: &[Wait],
    purpose: Purpose,
) -> Vec<Wait> {
    let mut pipeline = TileStream::new(steps, purpose);
    for _ in resident.partition_blocks(partitions) {
        for free in blocks(resident.free_elements, SBUF_CHUNK_ELEMENTS) {
            pipeline.enter(code, InFlight::new(free, None, after.to_vec()));
        }
    }
    latest(pipeline.drain(code))
}

/// The operand that the chain starts from: the first operand in SBUF.
fn main_operand(plan: &Plan<'_>, places: &Places, id: InstrId, members: &Members<'_>) -> Option<(InstrId, Resident)> {
    let inside = |o: &InstrId| members.iter().any(|(m, _)| m == o);
    let outside = members.iter().filter(|(_, m)| !matches!(m.opcode, Opcode::Broadcast { .. }));
    let operands = outside.flat_map(|(_, m)| m.operands.iter()).filter(|o| !inside(o));
    let mut resident = operands.filter_map(|operand| Some((*operand, places.resident(*operand)?.clone())));
    resident.next().or_else(|| broadcast_operand(plan, places, id, members))
}

/// A chain that starts from a small value (such as a mask) repeated to the result's size.
fn broadcast_operand(
    plan: &Plan<'_>,
    places: &Places,
    id: InstrId,
    members: &Members<'_>,
) -> Option<(InstrId, Resident)> {
    let (rows, columns) = rows_and_columns(&plan.find(id)?.shape);
    let repeated = members.iter().filter(|(_, m)| matches!(m.opcode, Opcode::Broadcast { .. }));
    let mut resident = repeated.filter_map(|(m, i)| Some((*m, places.resident(*i.operands.first()?)?)));
    let (member, of) = resident.next()?;
    let mut whole = Resident::of(wanted_layout(plan, id), rows, columns);
    whole.bytes = resident_bytes(plan.core, &whole, element_bytes(plan, id));
    whole.ready.clone_from(&of.ready);
    Some((member, whole))
}
