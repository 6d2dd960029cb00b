//! Another batch size for a program that was exported with one.
//!
//! A file with fixed sizes has answers for one batch size only. Where each sample goes its own way through the graph, the graph of another
//! batch size follows from it: the batch is followed from the inputs to the results, and every size that holds it changes. What mixes samples
//! (a sum over the batch, a product over it), what has a number for each sample, and what has no known meaning is refused by its name, so
//! a program that comes out computes for each sample what the file computes.

mod mark;
mod rules;
mod stretch;

use ns_base::{Idx, IndexVec, Refusal, refuse};
use rustc_hash::FxHashMap;

use super::{Computation, ComputationId, Instruction, InstructionId, Op, Program, ProgramParameter, Role, Type};
use super::{prune, verify};
use mark::Mark;

/// The marks of a value: one for an array, one for each part of a tuple.
type Marks = Vec<Option<Mark>>;

/// The program at another batch size. Inputs whose first size is `from` hold samples along it. An error names the first instruction
/// that does not treat samples one by one, or for which that is not known.
pub fn rebatch(program: &Program, from: u64, to: u64) -> Result<Program, Refusal> {
    if from == 0 || to == 0 {
        return Err(refuse!("a batch size of 0 has no samples"));
    }
    let sample_of = |p: &ProgramParameter| match p.ty.dims.first() {
        Some(first) if *first == from && p.role == Role::Input => Some(Mark { dimension: 0, inner: 1 }),
        _ => None,
    };
    let marks: Marks = program.parameters.iter().map(sample_of).collect();
    if marks.iter().all(Option::is_none) {
        return Err(refuse!("no input has {from} samples along its first dimension"));
    }
    let mut work =
        Rebatch { program, from, to, computations: program.computations.clone(), known: FxHashMap::default() };
    let (entry, results) = work.computation(program.entry, &marks)?;
    if results.iter().all(Option::is_none) {
        return Err(refuse!("no result depends on the inputs' first dimension"));
    }
    let mut parameters = program.parameters.clone();
    for (parameter, mark) in parameters.iter_mut().zip(&marks) {
        mark.inspect(|m| m.resize(&mut parameter.ty.dims, from, to));
    }
    let changed = prune(Program { name: program.name.clone(), computations: work.computations, entry, parameters });
    verify(&changed).map_err(|e| refuse!("the graph at batch {to} contradicts itself: {e}"))?;
    Ok(changed)
}

/// A program under change: its computations as they are, and behind them those that were changed.
struct Rebatch<'a> {
    program: &'a Program,
    from: u64,
    to: u64,
    computations: IndexVec<ComputationId, Computation>,
    /// Changed computations, by the original and the marks of its parameters.
    known: FxHashMap<(ComputationId, Marks), (ComputationId, Marks)>,
}

impl Rebatch<'_> {
    /// A computation for parameters with marks, and the marks of its result.
    fn computation(&mut self, id: ComputationId, parameters: &Marks) -> Result<(ComputationId, Marks), Refusal> {
        let key = (id, parameters.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let program = self.program;
        let old = &program.computations[id];
        let mut body = Body {
            old,
            from: self.from,
            to: self.to,
            new: IndexVec::new(),
            at: Vec::new(),
            marks: Vec::new(),
            stretched: FxHashMap::default(),
        };
        for (at, instruction) in old.instructions.iter_enumerated() {
            let is_touched = instruction.operands.iter().any(|o| body.is_marked(*o));
            match &instruction.op {
                Op::Parameter(n) => {
                    let mark = parameters.get(*n as usize).copied().flatten();
                    body.push(instruction, instruction.op.clone(), vec![mark]);
                }
                Op::Call if is_touched => {
                    let given: Marks = instruction.operands.iter().flat_map(|o| body.marks_of(*o).to_vec()).collect();
                    let callee =
                        *instruction.called.first().ok_or_else(|| refuse!("{} calls nothing", instruction.name))?;
                    let (callee, results) = self.computation(callee, &given)?;
                    let id = body.push(instruction, Op::Call, results);
                    body.new[id].called = vec![callee];
                }
                _ if is_touched => body.change(at, instruction)?,
                op => {
                    body.push(instruction, op.clone(), vec![None; parts(&instruction.ty)]);
                }
            }
        }
        let (root, marks) = (body.at[old.root.index()], body.marks_of(old.root).to_vec());
        let changed = Computation { name: old.name.clone(), instructions: body.new, root };
        let found = (self.computations.push(changed), marks);
        self.known.insert(key, found.clone());
        Ok(found)
    }
}

/// Number of arrays in a value.
fn parts(ty: &Type) -> usize {
    match ty {
        Type::Tuple(parts) => parts.len(),
        _ => 1,
    }
}

/// One computation under change.
struct Body<'a> {
    old: &'a Computation,
    from: u64,
    to: u64,
    new: IndexVec<InstructionId, Instruction>,
    /// Where each old instruction is now.
    at: Vec<InstructionId>,
    /// The marks of each old instruction.
    marks: Vec<Marks>,
    /// Values without a mark that got samples, by what they are and where.
    stretched: FxHashMap<(InstructionId, Mark), InstructionId>,
}

impl Body<'_> {
    fn marks_of(&self, id: InstructionId) -> &[Option<Mark>] {
        &self.marks[id.index()]
    }

    /// The mark of an array.
    fn mark_of(&self, id: InstructionId) -> Option<Mark> {
        self.marks_of(id).first().copied().flatten()
    }

    fn is_marked(&self, id: InstructionId) -> bool {
        self.marks_of(id).iter().any(Option::is_some)
    }

    /// Sizes of an old instruction's array; empty for a tuple.
    fn dims(&self, id: InstructionId) -> &[u64] {
        self.old.instructions[id].ty.array().map_or(&[], |array| &array.dims)
    }

    /// Adds the counterpart of the next old instruction.
    fn push(&mut self, old: &Instruction, op: Op, marks: Marks) -> InstructionId {
        let operands = old.operands.iter().map(|o| self.at[o.index()]).collect();
        self.push_with(old, op, operands, marks)
    }

    fn push_with(&mut self, old: &Instruction, op: Op, operands: Vec<InstructionId>, marks: Marks) -> InstructionId {
        let mut ty = old.ty.clone();
        match &mut ty {
            Type::Array(array) => {
                marks.first().copied().flatten().inspect(|m| m.resize(&mut array.dims, self.from, self.to));
            }
            Type::Tuple(types) => {
                for (part, mark) in types.iter_mut().zip(&marks) {
                    if let (Type::Array(array), Some(mark)) = (part, mark) {
                        mark.resize(&mut array.dims, self.from, self.to);
                    }
                }
            }
            Type::Token => {}
        }
        let id = self.new.push(Instruction { op, operands, ty, ..old.clone() });
        self.at.push(id);
        self.marks.push(marks);
        id
    }
}

#[cfg(test)]
mod tests;
