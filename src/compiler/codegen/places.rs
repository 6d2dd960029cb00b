//! Where the values are: in SBUF with a layout, or in device memory. Also the room left in SBUF.

use super::emitter::Transfer;
use super::memory::SbufRing;
use super::plan::{Plan, is_product, is_view};
use super::value::{Resident, Value};
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::{FxHashMap, FxHashSet, Idx};
use ns_machine::isa::Wait;

#[derive(Clone, Debug, Default)]
pub(super) struct SbufWeight {
    pub blocks: Vec<Wait>,
    pub bytes: u64,
}

/// A value in device memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpillPlace {
    /// SBUF that it takes after it is read back.
    pub sbuf_bytes: u64,
    pub moved: Transfer,
}

/// The values of a module while code is generated.
pub(super) struct Places {
    values: FxHashMap<InstrId, Value>,
    /// Values that are also present in the other layout.
    turned: FxHashMap<InstrId, Resident>,
    /// Instructions emitted before their turn, as the epilogue of a dot or as part of a larger operation.
    done: FxHashSet<InstrId>,
    /// Whether weights change, so that nothing is computed from them when they are loaded.
    pub trains: bool,
    /// Space in SBUF.
    pub ring: SbufRing,
    pub loaded: FxHashMap<InstrId, SbufWeight>,
    /// Tensors of a constant in SBUF, by the operation that reads them.
    pub constants: FxHashMap<InstrId, Wait>,
    /// Input transfers that are part of the step.
    pub staged: Vec<Wait>,
    /// Values that the current operation reads or writes; they must not leave SBUF.
    pub in_use: FxHashSet<InstrId>,
    /// Values that were moved to device memory to make room for others.
    pub spilled: FxHashMap<InstrId, SpillPlace>,
}

impl Places {
    /// An empty SBUF.
    pub fn new(plan: &Plan<'_>) -> Self {
        Self {
            values: FxHashMap::default(),
            turned: FxHashMap::default(),
            done: FxHashSet::default(),
            trains: plan.trains,
            ring: SbufRing::new(plan.core.sbuf_bytes),
            loaded: FxHashMap::default(),
            constants: FxHashMap::default(),
            staged: Vec::new(),
            in_use: FxHashSet::default(),
            spilled: FxHashMap::default(),
        }
    }

    /// The place of a value; `None` before it is computed.
    pub fn find(&self, id: InstrId) -> Option<&Value> {
        self.values.get(&id)
    }

    /// The place of a value. Fails before its turn.
    pub fn value(&self, plan: &Plan<'_>, id: InstrId) -> Result<&Value, StageError> {
        self.find(id).ok_or_else(|| plan.unsupported(id, "a value that is used before it is computed"))
    }

    /// A value in SBUF; `None` if it is not there.
    pub fn resident(&self, id: InstrId) -> Option<&Resident> {
        match self.find(id) {
            Some(Value::Resident(resident)) => Some(resident),
            _ => None,
        }
    }

    /// A value in SBUF, mutable; `None` if it is not there.
    pub fn resident_mut(&mut self, id: InstrId) -> Option<&mut Resident> {
        match self.values.get_mut(&id) {
            Some(Value::Resident(resident)) => Some(resident),
            _ => None,
        }
    }

    /// The values that take space in SBUF, including weights, in no particular order.
    pub fn with_space(&self) -> impl Iterator<Item = InstrId> + '_ {
        let values = self.values.iter().filter(|(_, v)| matches!(v, Value::Resident(r) if r.bytes > 0));
        values.map(|(id, _)| *id).chain(self.loaded.iter().filter(|(_, l)| l.bytes > 0).map(|(id, _)| *id))
    }

    pub fn set(&mut self, id: InstrId, value: Value) {
        self.values.insert(id, value);
    }

    pub fn set_resident(&mut self, id: InstrId, resident: Resident) {
        self.set(id, Value::Resident(resident));
    }

    /// The value in its other layout, if it was transposed.
    pub fn turned(&self, id: InstrId) -> Option<&Resident> {
        self.turned.get(&id)
    }

    pub fn set_turned(&mut self, id: InstrId, turned: Resident) {
        self.turned.insert(id, turned);
    }

    /// The values with a copy in the other layout, in no particular order.
    pub fn turned_values(&self) -> impl Iterator<Item = InstrId> + '_ {
        self.turned.keys().copied()
    }

    /// Forgets the value in the other layout; returns the bytes it took.
    pub fn forget_turned(&mut self, id: InstrId) -> u64 {
        self.turned.remove(&id).map_or(0, |t| t.bytes)
    }

    /// Whether an instruction was emitted before its turn.
    pub fn is_done(&self, id: InstrId) -> bool {
        self.done.contains(&id)
    }

    pub fn set_done(&mut self, id: InstrId) {
        self.done.insert(id);
    }

    /// Marks values that only exist inside an operation as computed; they do not take space.
    pub fn absorb(&mut self, parts: &[InstrId], result: &Resident) {
        for part in parts {
            self.set_resident(*part, Resident { bytes: 0, ..result.clone() });
            self.set_done(*part);
        }
    }

    /// Gives back the space of values that `id` was the last to read.
    pub fn release_after(&mut self, plan: &Plan<'_>, id: InstrId) {
        let Some(done) = self.resident(id).map(|r| r.ready.clone()) else { return };
        let mut dead: Vec<InstrId> = Vec::new();
        collect_dead(plan, id, id.index(), &mut dead);
        for value in dead {
            let loaded = self.loaded.remove(&value).map_or(0, |l| l.bytes);
            let resident = self.resident_mut(value).filter(|_| value != id);
            let resident = resident.map_or(0, |r| std::mem::take(&mut r.bytes));
            let turned = self.forget_turned(value);
            self.ring.release(loaded + resident + turned, done.clone());
        }
    }
}

fn collect_dead(plan: &Plan<'_>, id: InstrId, position: usize, dead: &mut Vec<InstrId>) {
    for operand in &plan.module.instructions[id].operands {
        if plan.last_use(*operand) == position && !dead.contains(operand) {
            dead.push(*operand);
            let instruction = &plan.module.instructions[*operand];
            if is_view(&instruction.opcode) || is_product(&instruction.opcode) {
                collect_dead(plan, *operand, position, dead);
            }
        }
    }
}
