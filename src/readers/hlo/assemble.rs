//! Makes a program from a module as written: callees first, without instructions that the result does not depend on.

use std::collections::BTreeMap;

use super::EXPORT_AGAIN;
use super::ops::op_of;
use super::raw::{Literal, RawComputation, RawInstruction, RawModule};
use crate::roles::Naming;
use crate::scopes;
use ns_base::convert::{usize_to_i64, usize_to_u32};
use ns_base::{IndexVec, Refusal, refuse};
use ns_program::{
    ArrayType, ComputationBuilder, ComputationId, ImportError, InstructionId, Numbers, Op, Place, Program,
    ProgramParameter, Role, Type, Value, WeightData, calls,
};

/// A program, with information that only its file has.
pub(super) struct FileProgram {
    pub program: Program,
    /// Names of the entry's parameters.
    pub naming: Vec<Naming>,
    /// How often each opcode occurs among the instructions that the result depends on.
    pub ops: BTreeMap<String, u64>,
    /// Whether a backend has fused the module.
    pub is_fused: bool,
}

/// Makes a program of a module.
pub(super) fn assemble(module: &RawModule) -> Result<FileProgram, ImportError> {
    let order = callees_first(module)?;
    let mut ids: Vec<Option<ComputationId>> = vec![None; module.computations.len()];
    let mut computations = IndexVec::new();
    let (mut ops, mut parameters, mut naming) = (BTreeMap::new(), Vec::new(), Vec::new());
    for index in order {
        let raw = &module.computations[index];
        let is_live = live(raw);
        for instruction in raw.instructions.iter().zip(&is_live).filter(|(_, live)| **live).map(|(i, _)| i) {
            *ops.entry(instruction.opcode.clone()).or_insert(0) += 1;
        }
        let mut body =
            Body { builder: ComputationBuilder::default(), ids: Vec::new(), computations: &ids, parameters: None };
        if index == module.entry {
            body.parameters = Some((Vec::new(), Vec::new()));
        }
        let root = body.read(raw, &is_live)?;
        if let Some((listed, named)) = body.parameters.take() {
            (parameters, naming) = (listed, named);
        }
        let computation = body.builder.finish(raw.name.clone(), root);
        ids[index] = Some(computations.push(computation));
    }
    let Some(entry) = ids[module.entry] else {
        return Err(refuse!(instead = EXPORT_AGAIN, "the module has no entry computation").into());
    };
    let is_fused = ops.contains_key("fusion");
    Ok(FileProgram {
        program: Program { name: module.name.clone(), computations, entry, parameters },
        naming,
        ops,
        is_fused,
    })
}

/// Computations that the entry reaches, callees before their callers.
fn callees_first(module: &RawModule) -> Result<Vec<usize>, ImportError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; module.computations.len()];
    let mut order = Vec::new();
    let mut stack = vec![(module.entry, false)];
    let lives: Vec<Vec<bool>> = module.computations.iter().map(live).collect();
    while let Some((index, is_left)) = stack.pop() {
        if is_left {
            states[index] = State::Done;
            order.push(index);
            continue;
        }
        match states[index] {
            State::Done => continue,
            State::Open => {
                let name = module.computations[index].name.chars().take(120).collect();
                let calls = refuse!(instead = EXPORT_AGAIN, "the computation calls itself");
                return Err(ImportError::at(Place::Node(name), calls));
            }
            State::New => {}
        }
        states[index] = State::Open;
        stack.push((index, true));
        for (instruction, is_live) in module.computations[index].instructions.iter().zip(&lives[index]) {
            if *is_live {
                stack.extend(instruction.called.iter().filter(|&&c| states[c] != State::Done).map(|&c| (c, false)));
            }
        }
    }
    // XLA writes callees first; its order then stays.
    let mut written = order.clone();
    written.sort_unstable();
    let is_written_so =
        written.iter().all(|&i| module.computations[i].instructions.iter().all(|c| c.called.iter().all(|&c| c < i)));
    Ok(if is_written_so { written } else { order })
}

/// Instructions that the root of a computation depends on.
fn live(raw: &RawComputation) -> Vec<bool> {
    let mut is_live = vec![false; raw.instructions.len()];
    let mut stack = vec![raw.root];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut is_live[at], true) {
            stack.extend(raw.instructions[at].operands.iter().map(|&o| o as usize));
        }
    }
    is_live
}

/// One computation during assembly.
struct Body<'a> {
    builder: ComputationBuilder,
    /// Instructions by position as written; `None` for those that are left out.
    ids: Vec<Option<InstructionId>>,
    computations: &'a [Option<ComputationId>],
    /// Parameters of the program, if it is the entry.
    parameters: Option<(Vec<ProgramParameter>, Vec<Naming>)>,
}

impl Body<'_> {
    fn read(&mut self, raw: &RawComputation, is_live: &[bool]) -> Result<InstructionId, ImportError> {
        self.parameters_first(raw)?;
        for (at, instruction) in raw.instructions.iter().enumerate() {
            if !is_live[at] || self.ids[at].is_some() {
                continue;
            }
            self.builder.origin = scopes::origin(&instruction.op_type, &instruction.op_name);
            let id = self.instruction(instruction)?;
            self.ids[at] = Some(id);
        }
        let no_result = || refuse!(instead = EXPORT_AGAIN, "a computation has no result");
        self.ids[raw.root].ok_or_else(|| ImportError::from(no_result()))
    }

    /// Parameters, by number, including those that nothing reads.
    fn parameters_first(&mut self, raw: &RawComputation) -> Result<(), ImportError> {
        self.ids = vec![None; raw.instructions.len()];
        let mut found: Vec<(i64, usize)> = Vec::new();
        for (at, instruction) in raw.instructions.iter().enumerate() {
            if let Some(number) = instruction.settings.parameter {
                found.push((number, at));
            }
        }
        found.sort_unstable();
        for (expected, &(number, at)) in found.iter().enumerate() {
            let instruction = &raw.instructions[at];
            if number != usize_to_i64(expected) {
                let wrong =
                    refuse!(instead = EXPORT_AGAIN, "it is parameter {number} where parameter {expected} should be");
                return Err(ImportError::at(instruction.place.clone(), wrong));
            }
            self.builder.origin = scopes::origin(&instruction.op_type, &instruction.op_name);
            let id = match self.parameters.take() {
                None => self.builder.push(
                    &instruction.name,
                    Op::Parameter(usize_to_u32(expected)),
                    Vec::new(),
                    instruction.ty.clone(),
                ),
                Some(mut listed) => {
                    let id = self.entry_parameter(instruction, &instruction.name, &instruction.ty, &mut listed);
                    self.parameters = Some(listed);
                    id
                }
            };
            self.ids[at] = Some(id);
        }
        Ok(())
    }

    /// A parameter of the entry; a tuple becomes one parameter for each array in it.
    fn entry_parameter(
        &mut self,
        instruction: &RawInstruction,
        name: &str,
        ty: &Type,
        listed: &mut (Vec<ProgramParameter>, Vec<Naming>),
    ) -> InstructionId {
        match ty {
            Type::Array(array) => {
                let number = usize_to_u32(listed.0.len());
                listed.0.push(ProgramParameter {
                    name: name.to_owned(),
                    role: Role::Input,
                    ty: array.clone(),
                    data: WeightData::Absent,
                });
                listed.1.push(Naming { name: name.to_owned(), label: instruction.op_name.clone(), is_open: false });
                self.builder.push(name, Op::Parameter(number), Vec::new(), ty.clone())
            }
            Type::Tuple(parts) => {
                let parts: Vec<InstructionId> = parts
                    .iter()
                    .enumerate()
                    .map(|(i, part)| self.entry_parameter(instruction, &format!("{name}.{i}"), part, listed))
                    .collect();
                self.builder.push(name, Op::Tuple, parts, ty.clone())
            }
            Type::Token => self.builder.push(name, Op::Barrier, Vec::new(), Type::Token),
        }
    }

    fn instruction(&mut self, raw: &RawInstruction) -> Result<InstructionId, ImportError> {
        let failed = |error: Refusal| ImportError::at(raw.place.clone(), error.advise(EXPORT_AGAIN));
        if raw.opcode == "constant" {
            let literal = raw.settings.literal.as_ref().ok_or_else(|| failed(refuse!("it has no literal")))?;
            return Ok(self.literal(&raw.name, literal));
        }
        let mut operands = Vec::with_capacity(raw.operands.len());
        for &operand in &raw.operands {
            let id = self.ids.get(operand as usize).copied().flatten();
            operands.push(id.ok_or_else(|| failed(refuse!("it reads what comes after it")))?);
        }
        let mut called = Vec::with_capacity(raw.called.len());
        for &callee in &raw.called {
            called.push(self.computations[callee].ok_or_else(|| failed(refuse!("it calls a computation around it")))?);
        }
        let op = match op_of(raw).map_err(failed)? {
            Op::CustomCall(call) => {
                let types: Vec<&Type> = operands.iter().map(|&o| self.builder.ty(o)).collect();
                calls::meaning(&call.name, &call.config, &types, &raw.ty)
            }
            // The size that the array has already. The second operand is left out: the operation passes its array on.
            Op::Opaque(call) if call.name == "set-dimension-size" && self.sets_full_size(raw, &operands) => {
                operands.truncate(1);
                Op::Barrier
            }
            // Optimised modules also change the type of numbers with it.
            Op::Reshape if raw.opcode == "bitcast" && self.changes_element(raw, &operands) => Op::BitcastConvert,
            op => op,
        };
        match op {
            Op::Compare(comparison) if raw.settings.is_total_order && operands.len() == 2 => {
                Ok(self.builder.compare_total_order(&raw.name, comparison, [operands[0], operands[1]], raw.ty.clone()))
            }
            Op::TopK { .. } => Ok(self.builder.push(&raw.name, op, operands, raw.ty.clone())),
            op => Ok(self.builder.push_call(&raw.name, op, operands, called, raw.ty.clone())),
        }
    }

    /// Whether an instruction gives a dimension the size that it has: TensorFlow marks results of fixed sizes in this way.
    fn sets_full_size(&self, raw: &RawInstruction, operands: &[InstructionId]) -> bool {
        let [array, size] = operands else { return false };
        let Some(Op::Constant(size)) = self.builder.instructions().get(*size).map(|i| &i.op) else { return false };
        let Type::Array(array) = self.builder.ty(*array) else { return false };
        let dimension = raw.settings.dimensions.first().and_then(|&d| usize::try_from(d).ok());
        let Some(&has) = dimension.and_then(|d| array.dims.get(d)) else { return false };
        matches!(&size.numbers, Numbers::Whole(n) if n.first().is_some_and(|&n| u64::try_from(n) == Ok(has)))
    }

    /// Whether the elements of the result have another type than those of the operand.
    fn changes_element(&self, raw: &RawInstruction, operands: &[InstructionId]) -> bool {
        let from = operands.first().map(|&o| self.builder.ty(o));
        matches!((from, &raw.ty), (Some(Type::Array(from)), Type::Array(to)) if from.element != to.element)
    }

    fn literal(&mut self, name: &str, literal: &Literal) -> InstructionId {
        let constant = |builder: &mut ComputationBuilder, op: Op, ty: &ArrayType| {
            builder.push(name, op, Vec::new(), Type::Array(ty.clone()))
        };
        match literal {
            Literal::Inline(value) => {
                let value: Value = value.clone();
                let ty = value.ty.clone();
                constant(&mut self.builder, Op::Constant(Box::new(value)), &ty)
            }
            Literal::Elided(ty) => constant(&mut self.builder, Op::ElidedConstant, ty),
            Literal::Tuple(parts) => {
                let parts: Vec<InstructionId> =
                    parts.iter().enumerate().map(|(i, part)| self.literal(&format!("{name}.{i}"), part)).collect();
                let types = parts.iter().map(|&p| self.builder.ty(p).clone()).collect();
                self.builder.push(name, Op::Tuple, parts, Type::Tuple(types))
            }
        }
    }
}
