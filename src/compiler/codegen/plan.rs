//! What is known about a module before code is generated: its instructions, the readers and lifetime of each value, and
//! the consequences of the core and the cast. Nothing here changes while code is generated.

use super::idioms::Idioms;
use super::precision::Precision;
use crate::error::StageError;
use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use ns_base::{FxHashMap, Idx, IndexVec, refuse};
use ns_machine::arch::CoreSpec;
use ns_machine::cost::CostTable;
use ns_machine::cost::decisions::SLACK_BYTES;
use ns_tensor::{DType, Shape};

/// Instructions with their ids: the members of a fusion, or one instruction.
pub(super) type Members<'a> = [(InstrId, &'a HloInstruction)];

/// A module, and what follows from the module, the core and the cast.
pub(super) struct Plan<'a> {
    pub module: &'a HloModule,
    pub core: &'a CoreSpec,
    /// At published clocks, so that fitted costs change no program.
    pub costs: CostTable,
    pub precision: Precision,
    /// Whether all weights stay in SBUF once they are loaded; otherwise each use loads its weight again.
    pub weights_stay: bool,
    /// Whether the program gives weights new values: then nothing but their layout is decided when they are loaded.
    pub trains: bool,
    /// Norms and softmaxes.
    pub idioms: Idioms,
    users: IndexVec<InstrId, Vec<InstrId>>,
    /// Position of the last instruction that reads each value, through values that are not materialised.
    last_use: IndexVec<InstrId, usize>,
    /// Instructions by id, members of fusions included.
    by_id: FxHashMap<InstrId, &'a HloInstruction>,
}

impl<'a> Plan<'a> {
    pub fn new(module: &'a HloModule, costs: &'a CostTable, precision: Precision) -> Self {
        let users = users(module);
        Self {
            module,
            core: &costs.core,
            costs: costs.clone(),
            precision,
            trains: module.assigned().next().is_some(),
            weights_stay: weights_fit(module, &costs.core, precision),
            idioms: Idioms::find(module, &users),
            users,
            last_use: last_uses(module),
            by_id: by_id(module),
        }
    }

    /// An instruction or a member of a fusion. Fails when the module has no instruction of that id.
    pub fn instruction(&self, id: InstrId) -> Result<&'a HloInstruction, StageError> {
        self.find(id).ok_or_else(|| self.unsupported(id, "an operand that doesn't exist"))
    }

    /// The same; `None` when the module has no instruction with that id.
    pub fn find(&self, id: InstrId) -> Option<&'a HloInstruction> {
        self.by_id.get(&id).copied()
    }

    /// An operand of an instruction or of a member of a fusion. Fails when the instruction does not have the operand.
    pub fn operand(&self, id: InstrId, n: usize) -> Result<InstrId, StageError> {
        let operand = self.instruction(id)?.operands.get(n).copied();
        operand.ok_or_else(|| self.unsupported(id, "a missing operand"))
    }

    /// Instructions that read a value; empty for a member of a fusion.
    pub fn users(&self, id: InstrId) -> &[InstrId] {
        self.users.get(id).map_or(&[], Vec::as_slice)
    }

    /// Position of the last instruction that reads a value.
    pub fn last_use(&self, id: InstrId) -> usize {
        self.last_use[id]
    }

    /// The first operation that reads a value; the value itself if it has no readers.
    pub fn first_reader(&self, id: InstrId) -> InstrId {
        self.users(id).first().copied().unwrap_or(id)
    }

    /// Whether a dot makes few rows in many matrices: the scores of a step of decode. They follow one another on the partitions, and a pass
    /// over rows serves all of them; nothing is done on the way out of PSUM, where each is alone.
    pub fn has_few_rows(&self, id: InstrId) -> bool {
        let Some(HloInstruction { opcode: Opcode::Dot(dims), shape, .. }) = self.find(id) else { return false };
        let columns = shape.dims.last().copied().unwrap_or(1);
        let rows = shape.elements() / columns.max(1);
        let matrices: u64 = shape.dims.iter().take(dims.batch as usize).product();
        matrices > 1 && rows <= u64::from(self.core.partitions)
    }

    /// The only reader of a dot, when it can evict the product from PSUM.
    pub fn epilogue_of(&self, id: InstrId) -> Option<InstrId> {
        let [user] = self.users(id) else { return None };
        if id == self.module.root || self.has_few_rows(id) {
            return None;
        }
        let instruction = &self.module.instructions[*user];
        let elementwise = instruction.opcode.is_elementwise() || matches!(instruction.opcode, Opcode::Fusion(_));
        // The other operands must be available already: constants, weights, or values computed before the dot.
        let is_available = |operand: InstrId| operand < id || self.comes_from_load(operand);
        let others_ready = instruction.operands.iter().all(|o| *o == id || is_available(*o));
        (elementwise && others_ready).then_some(*user)
    }

    /// Whether a value depends only on weights and constants, so that it is available before the program runs.
    pub fn comes_from_load(&self, id: InstrId) -> bool {
        let Some(instruction) = self.find(id) else { return false };
        match &instruction.opcode {
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => false,
            Opcode::Parameter { .. } | Opcode::Constant(_) => true,
            opcode => {
                let computed = opcode.is_elementwise() || matches!(opcode, Opcode::Fusion(_));
                let simple = is_view(opcode) || (computed && !self.trains);
                simple && instruction.operands.iter().all(|o| self.comes_from_load(*o))
            }
        }
    }

    /// Whether a product or a convolution reads a value, through views of it.
    pub fn read_by_products(&self, id: InstrId) -> bool {
        self.users(id).iter().any(|user| match &self.module.instructions[*user].opcode {
            opcode if is_product(opcode) => true,
            opcode => opcode.is_view() && self.read_by_products(*user),
        })
    }

    /// Bytes of an element of a value that products alone read. The cast narrows single precision; a model's own narrow type stays.
    pub fn operand_bytes(&self, id: InstrId) -> u64 {
        self.precision.operand_bytes.min(self.io_bytes(id))
    }

    /// Bytes of an element of a value that other operations read.
    pub fn value_bytes(&self, id: InstrId) -> u64 {
        self.precision.value_bytes.min(self.io_bytes(id))
    }

    /// Bytes of an element of an input or a result: these are never cast.
    pub fn io_bytes(&self, id: InstrId) -> u64 {
        self.find(id).map_or(DType::F32.bytes(), |i| i.shape.dtype.bytes())
    }

    /// Passes through the array that a product takes for each contracted block: one if the model itself has both operands in a
    /// narrow type.
    pub fn array_passes(&self, product: InstrId) -> u32 {
        let operands = self.find(product).map_or(&[][..], |i| &i.operands);
        let narrow = operands.iter().all(|&o| self.io_bytes(o) < DType::F32.bytes());
        if narrow && !operands.is_empty() { 1 } else { self.precision.passes }
    }

    /// Bytes of a weight in device memory. A weight that the program changes is kept in its own type, beside a copy as the
    /// products read it.
    pub fn weight_bytes(&self, id: InstrId, instruction: &HloInstruction) -> u64 {
        let Opcode::Parameter { role: ParameterRole::Weight(path), .. } = &instruction.opcode else { return 0 };
        let elements = instruction.shape.elements();
        let (own, operand_bytes) = (self.io_bytes(id), self.operand_bytes(id));
        if !self.trains || !self.module.assigned().any(|assigned| assigned == path) {
            return elements.saturating_mul(operand_bytes);
        }
        let copied = operand_bytes < own && self.read_by_products(id);
        elements.saturating_mul(own + if copied { operand_bytes } else { 0 })
    }

    /// Full framework path of an instruction, for messages.
    pub fn path(&self, id: InstrId) -> String {
        self.find(id).map_or_else(String::new, |i| self.full_path(i))
    }

    pub fn full_path(&self, instruction: &HloInstruction) -> String {
        let named = &instruction.metadata.op_name;
        match &instruction.opcode {
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => {
                let root =
                    named.split('/').next().filter(|r| !r.is_empty()).map_or_else(|| self.root_scope(), str::to_owned);
                format!("{root}/input")
            }
            _ if named.is_empty() => format!("{}/{}", self.root_scope(), instruction.name),
            _ => named.clone(),
        }
    }

    /// The outermost scope: `NN[model]`.
    pub fn root_scope(&self) -> String {
        let root = &self.module.instructions[self.module.root];
        let named = match &root.opcode {
            Opcode::Fusion(body) => body.members.last().map_or("", |m| m.metadata.op_name.as_str()),
            _ => root.metadata.op_name.as_str(),
        };
        named.split('/').next().filter(|s| !s.is_empty()).unwrap_or(&self.module.name).to_owned()
    }

    pub fn unsupported(&self, id: InstrId, what: &str) -> StageError {
        let path = self.path(id);
        let refusal = refuse!("{path}: no code generation for {what}");
        StageError::at(path, refusal)
    }
}

fn users(module: &HloModule) -> IndexVec<InstrId, Vec<InstrId>> {
    let mut users: IndexVec<InstrId, Vec<InstrId>> = module.instructions.iter().map(|_| Vec::new()).collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        for operand in &instruction.operands {
            users[*operand].push(id);
        }
    }
    users
}

fn by_id(module: &HloModule) -> FxHashMap<InstrId, &HloInstruction> {
    let mut by_id = FxHashMap::default();
    for (id, instruction) in module.instructions.iter_enumerated() {
        if let Opcode::Fusion(body) = &instruction.opcode {
            by_id.extend(body.ids.iter().copied().zip(&body.members));
        }
        by_id.insert(id, instruction);
    }
    by_id
}

/// Whether all weights fit in SBUF beside the largest pair of activations.
fn weights_fit(module: &HloModule, core: &CoreSpec, precision: Precision) -> bool {
    let size = |s: &Shape| s.elements().saturating_mul(precision.operand_bytes.min(s.dtype.bytes()));
    let bytes = |id: InstrId| size(&module.instructions[id].shape);
    let weights = module.instructions.iter().filter(|i| is_weight(i)).map(|i| size(&i.shape));
    let weights = weights.fold(SLACK_BYTES, u64::saturating_add);
    let activations = module.instructions.iter_enumerated().filter(|(_, i)| is_product(&i.opcode));
    let pair = activations.map(|(id, i)| bytes(id).saturating_add(i.operands.first().map_or(0, |o| bytes(*o)))).max();
    weights.saturating_add(pair.unwrap_or(0)) <= core.sbuf_bytes
}

/// Position of the last instruction that reads each value, through values that are not materialised.
fn last_uses(module: &HloModule) -> IndexVec<InstrId, usize> {
    let mut last: IndexVec<InstrId, usize> = module.instructions.iter().map(|_| 0).collect();
    last[module.root] = usize::MAX;
    let ids: Vec<InstrId> = module.instructions.ids().collect();
    for id in ids.into_iter().rev() {
        let instruction = &module.instructions[id];
        let as_user = if is_view(&instruction.opcode) { last[id] } else { id.index() };
        for operand in &instruction.operands {
            last[*operand] = last[*operand].max(as_user);
        }
    }
    last
}

/// Whether an instruction is a weight in device memory.
fn is_weight(instruction: &HloInstruction) -> bool {
    matches!(instruction.opcode, Opcode::Parameter { role: ParameterRole::Weight(_), .. })
}

/// Whether code generation treats an instruction as a view of its operand.
pub(super) fn is_view(opcode: &Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Parameter { .. }
            | Opcode::Slice { .. }
            | Opcode::Concatenate { .. }
            | Opcode::Convert
            | Opcode::Constant(_)
            | Opcode::Transpose { .. }
            | Opcode::Broadcast { .. }
            | Opcode::Reshape
    )
}

/// Whether an instruction is a matrix product.
pub(super) fn is_product(opcode: &Opcode) -> bool {
    matches!(opcode, Opcode::Dot(_) | Opcode::Convolution { .. })
}
