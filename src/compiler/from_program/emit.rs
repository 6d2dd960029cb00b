//! Appends HLO instructions for the operations that depend on inputs.

use std::collections::BTreeMap;

use super::constant_forms::{ConstantForm, constant_forms};
use super::flatten::{Flat, FlatId};
use super::{GuessedCost, HloProgram, UnknownOpPolicy, ops};
use crate::Workflow;
use crate::hlo::{HloInstruction, HloModule, InstrId, Literal, OpMetadata, Opcode, ParameterRole};
use ns_base::convert::f64_to_f32;
use ns_base::{IndexVec, Refusal, refuse};
use ns_program::{ArrayType, ElementType, Op, Program};
use ns_tensor::{DType, Shape};

/// A module in the making.
pub(super) struct Emit<'a> {
    pub program: &'a Program,
    pub flat: &'a Flat,
    pub forms: Vec<ConstantForm>,
    pub assumed: &'a BTreeMap<String, UnknownOpPolicy>,
    pub instructions: IndexVec<InstrId, HloInstruction>,
    placed: Vec<Option<InstrId>>,
    names: BTreeMap<String, u32>,
    parameters: u32,
    inputs: u32,
    computed: u32,
    pub estimates: BTreeMap<String, GuessedCost>,
    notes: BTreeMap<&'static str, u64>,
    /// The current operation: where the instructions come from.
    at: FlatId,
}

pub(super) fn emit(
    program: &Program,
    flat: &Flat,
    workflow: Workflow,
    assumed: &BTreeMap<String, UnknownOpPolicy>,
) -> Result<HloProgram, Refusal> {
    let mut emit = Emit {
        program,
        flat,
        forms: constant_forms(program, flat),
        assumed,
        instructions: IndexVec::new(),
        placed: vec![None; flat.nodes.len()],
        names: BTreeMap::new(),
        parameters: 0,
        inputs: 0,
        computed: 0,
        estimates: BTreeMap::new(),
        notes: BTreeMap::new(),
        at: 0,
    };
    let live = emit.live();
    for (id, live) in live.into_iter().enumerate() {
        if live && emit.forms[id] == ConstantForm::No {
            emit.at = id;
            let placed = ops::place(&mut emit, id)?;
            emit.placed[id] = Some(placed);
        }
    }
    emit.finish(workflow)
}

impl Emit<'_> {
    /// The operations that the results depend on and that depend on an input.
    fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.flat.nodes.len()];
        let mut stack = self.flat.results.clone();
        while let Some(id) = stack.pop() {
            if self.forms[id] == ConstantForm::No && !std::mem::replace(&mut live[id], true) {
                stack.extend(&self.flat.nodes[id].operands);
            }
        }
        live
    }

    fn finish(mut self, workflow: Workflow) -> Result<HloProgram, Refusal> {
        let reached = self.flat.results.iter().filter(|r| self.forms[**r] == ConstantForm::No);
        let results: Vec<InstrId> = reached.filter_map(|&r| self.placed[r]).collect();
        let mut seen: Vec<InstrId> = Vec::new();
        for result in results {
            if !seen.contains(&result) {
                seen.push(result);
            }
        }
        let root = match seen.as_slice() {
            [] => return Err(refuse!("no result depends on an input: there is nothing to compute on a call")),
            [one] => *one,
            [first, ..] => {
                let shape = self.instructions[*first].shape.clone();
                let metadata = self.instructions[*first].metadata.clone();
                let name = self.unique("tuple");
                let operands = seen.clone();
                self.instructions.push(HloInstruction { name, opcode: Opcode::Tuple, operands, shape, metadata })
            }
        };
        if self.flat.results.len() > seen.len() {
            *self
                .notes
                .entry("results that no input reaches, or that are there twice, are not computed")
                .or_default() += 1;
        }
        let name = match workflow {
            Workflow::MarkStep => format!("SyncTensorsGraph.{}", self.instructions.len() + 1),
            Workflow::Trace => self.program.name.clone(),
        };
        let module = HloModule { name, workflow, instructions: self.instructions, root };
        let notes = self.notes.into_keys().map(str::to_owned).collect();
        Ok(HloProgram { module, estimates: self.estimates, notes })
    }

    /// Adds a note for the user, once.
    pub fn note(&mut self, note: &'static str) {
        *self.notes.entry(note).or_default() += 1;
    }

    /// Records that the current operation is placed by an estimate.
    pub fn estimate(&mut self, name: &str) {
        self.guess(name, false);
    }

    /// Records that the cost of the current operation is a guess, or is not known at all.
    pub fn guess(&mut self, name: &str, is_unknown: bool) {
        let first = || GuessedCost { first: self.flat.nodes[self.at].name.clone(), is_unknown, count: 0 };
        self.estimates.entry(name.to_owned()).or_insert_with(first).count += 1;
    }

    fn unique(&mut self, name: &str) -> String {
        let count = self.names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { name.to_owned() } else { format!("{name}.{}", *count - 1) }
    }

    /// Appends an instruction for the current operation.
    pub fn push(&mut self, opcode: Opcode, operands: Vec<InstrId>, shape: Shape) -> InstrId {
        let metadata = self.metadata(opcode.name());
        let name = match &opcode {
            Opcode::Parameter { index, .. } => format!("p{index}"),
            Opcode::Work(work) => self.unique(&work.name),
            other => self.unique(other.name()),
        };
        self.instructions.push(HloInstruction { name, opcode, operands, shape, metadata })
    }

    /// `aten__linear_dot` in `NN[model]/Linear[layer1]`.
    fn metadata(&self, opcode: &str) -> OpMetadata {
        let origin = &self.flat.nodes[self.at].origin;
        let op = origin.op.replace("::", "__");
        let op_type = if op.is_empty() { opcode.to_owned() } else { format!("{op}_{opcode}") };
        let scope = if origin.scope.is_empty() { &self.program.name } else { &origin.scope };
        OpMetadata { op_name: format!("{scope}/{op_type}"), op_type }
    }

    /// The shape of an instruction.
    pub fn shape(&self, id: InstrId) -> Shape {
        self.instructions[id].shape.clone()
    }

    /// The shape that a type has on a core: 64-bit numbers take 32 bits there.
    pub fn shape_of(&mut self, ty: &ArrayType) -> Shape {
        use ElementType as E;
        let dtype = match ty.element {
            E::F32 => DType::F32,
            E::F16 => DType::F16,
            E::Bf16 => DType::Bf16,
            E::F64 | E::C64 | E::C128 => {
                self.note("double precision and complex numbers are placed as single precision");
                DType::F32
            }
            E::Pred | E::S4 | E::S8 | E::U4 | E::U8 => DType::Pred,
            E::F8E4M3 | E::F8E4M3Fn | E::F8E5M2 | E::F8E4M3Fnuz | E::F8E5M2Fnuz => DType::Pred,
            E::S16 | E::S32 | E::S64 | E::U16 | E::U32 | E::U64 => DType::S32,
        };
        Shape::new(dtype, ty.dims.clone())
    }

    /// The `n`-th operand of the current operation. Fails when the operation does not have the operand.
    pub fn operand(&mut self, n: usize) -> Result<InstrId, Refusal> {
        let id = self.operand_id(n)?;
        self.value(id)
    }

    /// All operands as instructions.
    pub fn operands(&mut self) -> Result<Vec<InstrId>, Refusal> {
        (0..self.flat.nodes[self.at].operands.len()).map(|n| self.operand(n)).collect()
    }

    /// The operation that computes the `n`-th operand.
    pub fn operand_id(&self, n: usize) -> Result<FlatId, Refusal> {
        let found = self.flat.nodes[self.at].operands.get(n).copied();
        found.ok_or_else(|| self.wrong(&format!("operand {n} is missing")))
    }

    /// An error at the current operation.
    pub fn wrong(&self, what: &str) -> Refusal {
        refuse!("{}: {what}", self.flat.nodes[self.at].name)
    }

    /// A value as an instruction.
    pub fn value(&mut self, id: FlatId) -> Result<InstrId, Refusal> {
        if let Some(placed) = self.placed[id] {
            return Ok(placed);
        }
        let node = &self.flat.nodes[id];
        let shape = self.shape_of(&node.ty);
        let placed = match self.forms[id].clone() {
            ConstantForm::No => return Err(self.wrong("an operand comes later")),
            // One copy for each use, as in the models of the zoo: a constant is part of the operation that reads it.
            ConstantForm::Splat(value) => return Ok(self.splat(value, shape)),
            ConstantForm::Weight(n) => {
                let name = self.program.parameters.get(n as usize).map(|p| p.name.clone());
                self.weight(name.unwrap_or_else(|| node.name.clone()), shape)
            }
            ConstantForm::View => {
                let of = *node.operands.first().ok_or_else(|| self.wrong("a view of nothing"))?;
                let of = self.value(of)?;
                match &node.op {
                    Op::Transpose { permutation } => self.transposed(of, permutation.clone()),
                    _ => self.reshaped(of, shape.dims),
                }
            }
            ConstantForm::Repeated { of, along } if along.len() <= 1 => self.repeated_vector(of, &along, &shape)?,
            ConstantForm::Repeated { .. } | ConstantForm::Computed => {
                self.computed += 1;
                self.weight(format!("computed at load {}: {}", self.computed, node.name), shape)
            }
        };
        self.placed[id] = Some(placed);
        Ok(placed)
    }

    /// A given value with at most one dimension that is not of size one, repeated to a shape. Fails when the value is defined
    /// later.
    pub fn repeated_vector(&mut self, of: FlatId, along: &[u32], shape: &Shape) -> Result<InstrId, Refusal> {
        let vector = self.value(of)?;
        let dims = along.iter().filter_map(|&d| shape.dims.get(d as usize).copied()).collect();
        let vector = self.reshaped(vector, dims);
        let vector = self.converted(vector, shape.dtype);
        Ok(self.repeated(vector, along, &shape.dims))
    }

    /// One number in every element.
    pub fn splat(&mut self, value: f64, shape: Shape) -> InstrId {
        // A single-precision number, as every constant of a core.
        let literal = Literal(f64_to_f32(value));
        let constant = self.push(Opcode::Constant(literal), Vec::new(), Shape::new(shape.dtype, []));
        if shape.rank() == 0 {
            return constant;
        }
        self.push(Opcode::Broadcast { dimensions: Vec::new() }, vec![constant], shape)
    }

    fn weight(&mut self, name: String, shape: Shape) -> InstrId {
        self.parameter(ParameterRole::Weight(name), shape)
    }

    fn parameter(&mut self, role: ParameterRole, shape: Shape) -> InstrId {
        let index = self.parameters;
        self.parameters += 1;
        self.push(Opcode::Parameter { index, role }, Vec::new(), shape)
    }

    pub fn input(&mut self, shape: Shape) -> InstrId {
        let role = ParameterRole::Input(self.inputs);
        self.inputs += 1;
        self.parameter(role, shape)
    }
}
