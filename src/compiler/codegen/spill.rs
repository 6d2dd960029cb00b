//! Room in SBUF, and spills: values that leave it for device memory while others need the room.
//!
//! The value with the latest next read goes first. Weights are in device memory already, so they are only dropped and
//! loaded again. Any other value is written to device memory and read back before the operation that needs it. Its space
//! is free once it is written and everything emitted before is complete, since the last reader is not tracked.
//!
//! An operation of many large operands may leave no room for its result. Each of them is then read in slices half as long.

use super::code::Code;
use super::emitter::Transfer;
use super::layout::element_bytes;
use super::places::{Places, SpillPlace};
use super::plan::{Plan, is_product, is_view};
use super::value::{Resident, Value};
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::Idx;
use ns_base::Order;
use ns_machine::cost::decisions::VIEW_LOOKAHEAD;
use ns_machine::isa::{DmaDirection, DmaQueue, Wait};

/// A slice of a value is not shorter than this: 32 numbers on each of 128 partitions.
const LEAST_SLICE_BYTES: u64 = 16 << 10;

/// Makes room for `bytes` in SBUF, by moving values that are not in use; returns what must be complete before the
/// room is free. Fails when the values in use leave less room than that.
pub(super) fn take(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    bytes: u64,
) -> Result<Vec<Wait>, StageError> {
    loop {
        match places.ring.take(bytes, &plan.path(id)) {
            Err(_) if make_room(plan, places, code) => {}
            taken => return taken,
        }
    }
}

/// Brings back the operands of the operation at `id`, and keeps them in SBUF until the next operation begins.
pub(super) fn begin_operation(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    places.in_use.clear();
    let covered = covered(plan, id);
    for part in &covered {
        for operand in &plan.module.instructions[*part].operands {
            use_bases(plan, places, *operand);
        }
    }
    places.in_use.extend(covered);
    reload_used(plan, places, code)
}

/// Brings a result back before it is written out.
pub(super) fn begin_output(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
) -> Result<(), StageError> {
    places.in_use.clear();
    use_bases(plan, places, id);
    reload_used(plan, places, code)
}

/// Moves the value with the latest next read out of SBUF, or else drops a copy in the other layout; false when everything there is
/// in use.
fn make_room(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>) -> bool {
    let idle = places.with_space().filter(|id| !places.in_use.contains(id));
    // Ids break ties: the order of a hash map must not reach the program.
    let victim = idle.max_by_key(|id| (next_use(plan, places, *id, VIEW_LOOKAHEAD), id.index()));
    let Some(victim) = victim else { return drop_turned(plan, places, code) || halve(places, code) };
    if let Some(weight) = places.loaded.remove(&victim) {
        places.ring.release(weight.bytes, code.emitter.so_far());
    } else {
        save(plan, places, code, victim, 0);
    }
    true
}

/// Drops the copy in the other layout whose value has the latest next read; false when all of them are in use. Only copies of
/// views are left here: the copy of any other value goes with it.
fn drop_turned(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>) -> bool {
    let idle = places.turned_values().filter(|id| !is_in_use(plan, places, *id));
    let victim = idle.max_by_key(|id| (next_use(plan, places, *id, VIEW_LOOKAHEAD), id.index()));
    let Some(victim) = victim else { return false };
    let bytes = places.forget_turned(victim);
    places.ring.release(bytes, code.emitter.so_far());
    true
}

/// Halves the space of the largest value, which the current operation then reads in slices half as long; false when none is worth it.
/// No instruction is added for the further slices.
fn halve(places: &mut Places, code: &mut Code<'_>) -> bool {
    let bytes_of = |id: &InstrId| places.resident(*id).map_or(0, |r| r.bytes);
    let largest = places.with_space().max_by_key(|id| (bytes_of(id), id.index()));
    let Some(resident) = largest.and_then(|id| places.resident_mut(id)).filter(|r| r.bytes > LEAST_SLICE_BYTES) else {
        return false;
    };
    let freed = resident.bytes / 2;
    resident.bytes -= freed;
    places.ring.release(freed, code.emitter.so_far());
    true
}

/// Whether the current operation reads or writes a value, or what it is a view of.
fn is_in_use(plan: &Plan<'_>, places: &Places, id: InstrId) -> bool {
    let instruction = &plan.module.instructions[id];
    places.in_use.contains(&id)
        || (is_view(&instruction.opcode)
            && instruction.operands.iter().any(|operand| is_in_use(plan, places, *operand)))
}

/// An operation and the operations that are emitted together with it.
fn covered(plan: &Plan<'_>, id: InstrId) -> Vec<InstrId> {
    let mut covered = vec![id];
    let is_product = is_product(&plan.module.instructions[id].opcode);
    let result = if is_product { plan.epilogue_of(id).unwrap_or(id) } else { id };
    covered.push(result);
    let softmax = plan.idioms.softmaxes.get(&id).or_else(|| plan.idioms.softmax_of.get(&result));
    if let Some(s) = softmax {
        covered.extend(s.parts.iter().chain([&s.result]));
    }
    if let Some(n) = plan.idioms.norms.get(&id) {
        covered.extend(n.parts.iter().chain([&n.result]));
    }
    covered
}

/// Marks the values in SBUF that a read of `id` looks at.
fn use_bases(plan: &Plan<'_>, places: &mut Places, id: InstrId) {
    match places.find(id) {
        Some(Value::Broadcast { of, .. }) => {
            let of = *of;
            use_bases(plan, places, of);
        }
        Some(Value::Weight { parameter, .. }) => {
            let parameter = *parameter;
            places.in_use.insert(parameter);
        }
        Some(Value::Resident(r)) if r.bytes > 0 || places.spilled.contains_key(&id) => {
            places.in_use.insert(id);
        }
        // A view of a value in SBUF, or a view that comes later.
        _ if is_view(&plan.module.instructions[id].opcode) => {
            for operand in &plan.module.instructions[id].operands {
                use_bases(plan, places, *operand);
            }
        }
        // It only exists within an operation, or nothing reads it any more.
        _ => {}
    }
}

fn reload_used(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>) -> Result<(), StageError> {
    let used = places.in_use.iter().copied();
    let mut needed: Vec<InstrId> = used.filter(|id| places.spilled.contains_key(id)).collect();
    needed.order();
    needed.into_iter().try_for_each(|id| reload(plan, places, code, id))
}

/// Position of the next operation that reads a value, through views of it; the end of the program when none does.
fn next_use(plan: &Plan<'_>, places: &Places, id: InstrId, depth: u32) -> usize {
    let users = plan.users(id).iter().filter(|u| !places.is_done(**u));
    let uses = users.map(|user| match &plan.module.instructions[*user].opcode {
        opcode if is_view(opcode) && depth > 0 => next_use(plan, places, *user, depth - 1),
        _ if places.find(*user).is_some() => usize::MAX,
        _ => user.index(),
    });
    uses.min().unwrap_or(usize::MAX)
}

/// Writes a value to device memory; the next operation that reads it brings it back. It is a line for each partition there, or as many
/// as `rows`, if those are more.
pub(super) fn save(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId, rows: u64) {
    let Some(resident) = places.resident_mut(id) else { return };
    let sbuf_bytes = std::mem::take(&mut resident.bytes);
    let elements = resident.partition_elements.saturating_mul(resident.free_elements);
    let bytes = elements.saturating_mul(element_bytes(plan, id));
    let partitions = resident.partitions_used(plan.core.partitions);
    let moved = Transfer {
        queue: DmaQueue::Spill,
        direction: DmaDirection::SbufToHbm,
        bytes,
        partitions,
        descriptors: u64::from(partitions).max(rows),
    };
    let source = code.sources.of(id);
    let saved = code.emitter.dma(moved, source, &resident.ready);
    let mut free = code.emitter.so_far();
    free.push(saved);
    // The copy in the other layout is recreated from the value.
    let turned = places.forget_turned(id);
    places.ring.release(sbuf_bytes + turned, free);
    code.memory.spill_bytes += bytes;
    places.spilled.insert(id, SpillPlace { sbuf_bytes, moved });
}

fn reload(plan: &Plan<'_>, places: &mut Places, code: &mut Code<'_>, id: InstrId) -> Result<(), StageError> {
    let Some(SpillPlace { sbuf_bytes, moved }) = places.spilled.get(&id).copied() else { return Ok(()) };
    let room = take(plan, places, code, id, sbuf_bytes)?;
    places.spilled.remove(&id);
    let source = code.sources.of(id);
    let back = code.emitter.dma(Transfer { direction: DmaDirection::HbmToSbuf, ..moved }, source, &room);
    if let Some(resident) = places.resident_mut(id) {
        *resident = Resident { bytes: sbuf_bytes, ready: vec![back], ..resident.clone() };
    }
    ready_views(plan, places, id, back, VIEW_LOOKAHEAD);
    Ok(())
}

/// Makes every view of a value wait for it too.
fn ready_views(plan: &Plan<'_>, places: &mut Places, id: InstrId, back: Wait, depth: u32) {
    for user in plan.users(id) {
        if depth > 0
            && is_view(&plan.module.instructions[*user].opcode)
            && let Some(view) = places.resident_mut(*user)
        {
            view.ready.push(back);
            ready_views(plan, places, *user, back, depth - 1);
        }
    }
}
