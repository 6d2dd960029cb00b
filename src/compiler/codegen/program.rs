//! Walks a module in order and emits each instruction.

use super::CodegenError;
use super::emitter::Emitter;
use super::idioms::Idioms;
use super::memory::SbufRing;
use super::precision::Precision;
use super::product::PsumBanks;
use super::room::{last_uses, weights_fit};
use super::sources::Sources;
use super::spill::Spilled;
use super::value::{Resident, Value};
use crate::base::{FxHashMap, FxHashSet, IndexVec};
use crate::compiler::CompileOptions;
use crate::compiler::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use crate::machine::Executable;
use crate::machine::arch::CoreSpec;
use crate::machine::cost::CostTable;
use crate::machine::isa::{Unit, Wait};

/// A weight in SBUF.
#[derive(Clone, Debug, Default)]
pub(super) struct Loaded {
    pub blocks: Vec<Wait>,
    pub bytes: u64,
}

/// The state of one compilation.
pub(super) struct Generator<'a> {
    pub module: &'a HloModule,
    pub core: &'a CoreSpec,
    /// At published clocks: what was fitted changes no program.
    pub costs: CostTable,
    pub precision: Precision,
    pub emitter: Emitter,
    pub sources: Sources<'a>,
    pub ring: SbufRing,
    pub psum: PsumBanks,
    pub values: FxHashMap<InstrId, Value>,
    /// Values that are also there in the other layout.
    pub turned: FxHashMap<InstrId, Resident>,
    pub loaded: FxHashMap<InstrId, Loaded>,
    pub constants: FxHashMap<InstrId, Wait>,
    /// Whether all weights stay in SBUF once they are loaded; else each use streams its weight again.
    pub weights_stay: bool,
    /// Transfers of inputs that a step makes itself.
    pub staged: Vec<Wait>,
    /// The activation function whose table is in place.
    pub table: Option<&'static str>,
    pub flops: u64,
    /// What the vector and the scalar engine were given of the operation at hand, picoseconds.
    pub loads: [u64; 2],
    pub users: IndexVec<InstrId, Vec<InstrId>>,
    /// Position of the last instruction that reads each value, through values that are not materialised.
    pub(super) last_use: IndexVec<InstrId, usize>,
    /// Norms and softmaxes.
    pub idioms: Idioms,
    /// What the operation at hand reads and writes, which must not leave SBUF.
    pub in_use: FxHashSet<InstrId>,
    /// Values that are in device memory while others have their room.
    pub spilled: FxHashMap<InstrId, Spilled>,
    /// Emitted before their turn, as the epilogue of a dot or as part of a larger operation.
    pub done: FxHashSet<InstrId>,
}

/// Compiles a module for one core, with the default options. Work is balanced between its engines by what they cost.
///
/// # Errors
/// When it does not fit the core, or uses an opcode in a form that has no lowering to instructions.
pub fn generate(module: &HloModule, costs: &CostTable) -> Result<Executable, CodegenError> {
    generate_with(module, costs, &CompileOptions::default())
}

/// Compiles a module for one core with other options than the defaults.
///
/// # Errors
/// As [`generate`].
pub fn generate_with(
    module: &HloModule,
    costs: &CostTable,
    options: &CompileOptions,
) -> Result<Executable, CodegenError> {
    let mut generator = Generator::new(module, costs, Precision::of(options, &costs.core));
    for id in module.instructions.ids() {
        generator.instruction_at(id)?;
        generator.release_after(id);
        generator.emitter.check_size()?;
    }
    let root = &module.instructions[module.root];
    match root.opcode {
        Opcode::Tuple => root.operands.iter().try_for_each(|result| generator.output(*result))?,
        _ => generator.output(module.root)?,
    }
    generator.finish()
}

impl<'a> Generator<'a> {
    fn new(module: &'a HloModule, costs: &'a CostTable, precision: Precision) -> Self {
        let core = &costs.core;
        let mut users: IndexVec<InstrId, Vec<InstrId>> = module.instructions.iter().map(|_| Vec::new()).collect();
        for (id, instruction) in module.instructions.iter_enumerated() {
            for operand in &instruction.operands {
                users[*operand].push(id);
            }
        }
        let last_use = last_uses(module);
        let idioms = Idioms::find(module, &users);
        Self {
            module,
            core,
            costs: costs.at_published_clocks(),
            precision,
            emitter: Emitter::new(),
            sources: Sources::new(module),
            ring: SbufRing::new(core.sbuf_bytes),
            psum: PsumBanks::new(core.psum_banks),
            values: FxHashMap::default(),
            turned: FxHashMap::default(),
            loaded: FxHashMap::default(),
            constants: FxHashMap::default(),
            weights_stay: weights_fit(module, core, precision.operand_bytes),
            staged: Vec::new(),
            table: None,
            flops: 0,
            loads: [0; 2],
            users,
            last_use,
            idioms,
            in_use: FxHashSet::default(),
            spilled: FxHashMap::default(),
            done: FxHashSet::default(),
        }
    }

    fn instruction_at(&mut self, id: InstrId) -> Result<(), CodegenError> {
        if self.done.contains(&id) {
            return Ok(());
        }
        let instruction = &self.module.instructions[id];
        if self.define_lazy(id, instruction) {
            return Ok(());
        }
        self.begin_operation(id)?;
        // Operations wait for one another, so the engines start each without work.
        self.loads = [0; 2];
        if let Some(softmax) = self.idioms.softmaxes.get(&id).cloned() {
            return self.softmax(&softmax);
        }
        if let Some(norm) = self.idioms.norms.get(&id).cloned() {
            return self.norm(&norm);
        }
        match &instruction.opcode {
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => self.input(id),
            Opcode::Dot(_) | Opcode::Convolution { .. } => self.product_at(id, instruction),
            Opcode::ReduceWindow { window, .. } => self.reduce_window(id, window),
            Opcode::Gather => self.gather(id),
            Opcode::Concatenate { .. } => self.concatenate(id),
            Opcode::Slice { .. } => self.slice_resident(id),
            Opcode::DynamicUpdateSlice => self.update_in_place(id),
            Opcode::Reduce { dimensions, .. } => self.reduce(id, dimensions),
            Opcode::CustomCall { .. } => self.custom_call(id),
            Opcode::Work(work) => self.work(id, work),
            Opcode::Transpose { permutation } => self.transpose_resident(id, permutation),
            Opcode::Reshape => self.reshape_resident(id),
            // Results are written one by one at the end.
            Opcode::Tuple => Ok(()),
            _ => {
                let members = self.members_of(id);
                self.elementwise(id, &members)
            }
        }
    }

    /// A dot or a convolution with its epilogue.
    fn product_at(&mut self, id: InstrId, instruction: &HloInstruction) -> Result<(), CodegenError> {
        let epilogue = self.epilogue_of(id);
        let members = epilogue.map(|e| self.members_of(e)).unwrap_or_default();
        let result = epilogue.unwrap_or(id);
        match &instruction.opcode {
            Opcode::Dot(dims) => self.dot(id, dims, result, &members)?,
            Opcode::Convolution { window, feature_group_count } => {
                self.convolution(id, window, *feature_group_count, result, &members)?;
            }
            _ => return Err(self.unsupported(id, "a product of this kind")),
        }
        if let Some(epilogue) = epilogue {
            // The product itself never reaches SBUF; what it read is free when its epilogue is complete.
            let evicted = self.value(epilogue)?.clone();
            if let Value::Resident(r) = evicted {
                self.set_resident(id, Resident { bytes: 0, ..r });
            }
            self.done.insert(epilogue);
        }
        Ok(())
    }

    /// The operation that reads a value first; the value itself when nothing does.
    pub(super) fn first_reader(&self, id: InstrId) -> InstrId {
        self.users[id].first().copied().unwrap_or(id)
    }

    /// The only reader of a dot, when it can evict the product from PSUM.
    pub(super) fn epilogue_of(&self, id: InstrId) -> Option<InstrId> {
        let [user] = self.users[id].as_slice() else { return None };
        if id == self.module.root {
            return None;
        }
        let instruction = &self.module.instructions[*user];
        let elementwise = instruction.opcode.is_elementwise() || matches!(instruction.opcode, Opcode::Fusion(_));
        // The other operands must be there already: constants, weights, or values computed before the dot.
        let others_ready = instruction.operands.iter().all(|o| *o == id || self.is_available(*o, id));
        (elementwise && others_ready).then_some(*user)
    }

    /// The members of a fusion, or the instruction itself.
    pub(super) fn members_of(&mut self, id: InstrId) -> Vec<(InstrId, &'a HloInstruction)> {
        let instruction: &'a HloInstruction = &self.module.instructions[id];
        let members = match &instruction.opcode {
            Opcode::Fusion(body) => body.ids.iter().copied().zip(&body.members).collect(),
            _ => vec![(id, instruction)],
        };
        // Views between the dot and its epilogue in program order have not had their turn yet.
        for operand in &instruction.operands {
            self.define_ahead(*operand);
        }
        members
    }

    fn finish(self) -> Result<Executable, CodegenError> {
        let name = self.sources.root_scope();
        let mut executable = self.emitter.executable;
        executable.name = name;
        executable.sources = self.sources.finish();
        executable.model_flops = self.flops;
        executable.memory.sbuf_peak_bytes = self.ring.peak();
        executable.memory.sbuf_capacity_bytes = self.core.sbuf_bytes;
        let memory = &executable.memory;
        let needed = [memory.weight_bytes, memory.input_bytes, memory.output_bytes, memory.spill_bytes];
        let needed = needed.into_iter().fold(0, u64::saturating_add);
        if needed > self.core.hbm_bytes {
            return Err(CodegenError::DeviceMemoryExceeded { needed, available: self.core.hbm_bytes });
        }
        Ok(executable)
    }

    pub(super) fn set_resident(&mut self, id: InstrId, resident: Resident) {
        self.values.insert(id, Value::Resident(resident));
    }

    pub(super) fn value(&self, id: InstrId) -> Result<&Value, CodegenError> {
        self.values.get(&id).ok_or_else(|| self.unsupported(id, "a value that is used before it is computed"))
    }

    pub(super) fn instruction(&self, id: InstrId) -> Result<&'a HloInstruction, CodegenError> {
        self.sources.instruction(id).ok_or_else(|| self.unsupported(id, "an operand that doesn't exist"))
    }

    pub(super) fn operand(&self, id: InstrId, n: usize) -> Result<InstrId, CodegenError> {
        let operand = self.instruction(id)?.operands.get(n).copied();
        operand.ok_or_else(|| self.unsupported(id, "a missing operand"))
    }

    pub(super) fn unsupported(&self, id: InstrId, what: &str) -> CodegenError {
        CodegenError::Unsupported { path: self.sources.path(id), what: what.to_owned() }
    }
}

/// The latest completion of each unit.
pub(super) fn latest(waits: Vec<Wait>) -> Vec<Wait> {
    let mut by_unit = [0u32; Unit::COUNT];
    let mut kept: Vec<Wait> = Vec::new();
    for wait in waits {
        let count = &mut by_unit[wait.unit.index()];
        if wait.count > *count {
            *count = wait.count;
            kept.retain(|k| k.unit != wait.unit);
            kept.push(wait);
        }
    }
    kept
}
