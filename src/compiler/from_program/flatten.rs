//! A program without calls, loops and tuples: its representation, and how calls and loops are written out.

use std::collections::BTreeMap;

use super::fold::fold;
use ns_base::{Idx, IndexVec, Refusal, refuse};
use ns_program::{
    ArrayType, Binary, Comparison, Computation, ComputationId, ElementType, Foreign, Instruction, InstructionId,
    Numbers, Op, Origin, Program, Type, Unary, Value, chosen_branch, written_out,
};

/// Most operations that are placed: a model of a thousand modules has about a hundredth of it.
const MOST_NODES: usize = 400_000;
/// Calls deeper than this belong to a program that calls itself.
const MOST_DEPTH: u32 = 100;
/// Most turns of a loop that is unrolled.
const MOST_TURNS: u32 = 20_000;

/// A value while a program is written out.
#[derive(Clone, Debug)]
enum Flow {
    Array(FlatId),
    Tuple(Vec<Flow>),
    Token,
}

/// Writes a program out. Fails when it calls itself, has a loop whose number of turns depends on data, or has too many
/// instructions.
pub(super) fn flatten(program: &Program) -> Result<Flat, Refusal> {
    write_out(Writer::new(program)).map(|writer| writer.flat)
}

/// Writes a program out as far as possible: a loop, a branch or a call that cannot be written out stays as one operation with its
/// own name. Returns these names, with the reason for each. Fails when there are too many instructions without any loop or call.
pub(super) fn flatten_what_can_be(program: &Program) -> Result<(Flat, BTreeMap<String, String>), Refusal> {
    let writer = Writer { refused: Some(BTreeMap::new()), ..Writer::new(program) };
    write_out(writer).map(|writer| (writer.flat, writer.refused.unwrap_or_default()))
}

fn write_out(mut writer: Writer<'_>) -> Result<Writer<'_>, Refusal> {
    let program = writer.program;
    let arguments = program
        .parameters
        .iter()
        .zip(0u32..)
        .map(|(p, n)| {
            let node = writer.node(&p.name, Op::Parameter(n), Vec::new(), p.ty.clone());
            writer.push(node).map(Flow::Array)
        })
        .collect::<Result<Vec<Flow>, Refusal>>()?;
    let result = writer.computation(program.entry, &arguments)?;
    let mut results = Vec::new();
    leaves(&result, &mut results);
    writer.flat.results = results;
    Ok(writer)
}

fn leaves(flow: &Flow, out: &mut Vec<FlatId>) {
    match flow {
        Flow::Array(id) => out.push(*id),
        Flow::Tuple(parts) => parts.iter().for_each(|p| leaves(p, out)),
        Flow::Token => {}
    }
}

struct Writer<'a> {
    program: &'a Program,
    /// Instructions of each computation once its calls are written out.
    sizes: Vec<u64>,
    flat: Flat,
    depth: u32,
    /// Names of the instructions that stay as one operation, with the reasons; `None` where such an instruction is an
    /// error.
    refused: Option<BTreeMap<String, String>>,
}

/// A computation that has this many times the most that can be placed is not tried: what of it is not live cannot make up for it.
const HOPELESS: u64 = 16;

fn too_large() -> Refusal {
    refuse!("the program has more than {MOST_NODES} instructions once its calls and loops are written out")
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program) -> Self {
        Self { program, sizes: written_out(program), flat: Flat::default(), depth: 0, refused: None }
    }
}

impl Writer<'_> {
    fn node(&self, name: &str, op: Op, operands: Vec<FlatId>, ty: ArrayType) -> FlatNode {
        let origin = ns_program::Origin::default();
        FlatNode { name: name.to_owned(), op, operands, ty, origin, value: None, splat: None, part: 0, combine: None }
    }

    fn push(&mut self, mut node: FlatNode) -> Result<FlatId, Refusal> {
        if self.flat.nodes.len() >= MOST_NODES {
            return Err(too_large());
        }
        let known: Vec<Option<&Value>> = node.operands.iter().map(|&o| self.flat.nodes[o].value.as_ref()).collect();
        node.value = fold(&node.op, &known, &node.ty);
        self.flat.nodes.push(node);
        Ok(self.flat.nodes.len() - 1)
    }

    fn computation(&mut self, id: ComputationId, arguments: &[Flow]) -> Result<Flow, Refusal> {
        let program = self.program;
        let computation = &program.computations[id];
        if self.depth >= MOST_DEPTH {
            return Err(depends_on_data(&computation.name, "it calls itself"));
        }
        if self.sizes.get(id.index()).is_some_and(|size| *size > HOPELESS * MOST_NODES as u64) {
            return Err(too_large());
        }
        self.depth += 1;
        let live = live(computation);
        let mut flows: IndexVec<InstructionId, Flow> = IndexVec::new();
        for (id, instruction) in computation.instructions.iter_enumerated() {
            let flow = if live[id] {
                let operands: Vec<Flow> = instruction.operands.iter().map(|&o| flows[o].clone()).collect();
                self.instruction(instruction, &operands, arguments)?
            } else {
                Flow::Token
            };
            flows.push(flow);
        }
        self.depth -= 1;
        Ok(flows[computation.root].clone())
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        operands: &[Flow],
        arguments: &[Flow],
    ) -> Result<Flow, Refusal> {
        let (before, depth) = (self.flat.nodes.len(), self.depth);
        let error = match self.written_out(instruction, operands, arguments) {
            Ok(flow) => return Ok(flow),
            Err(error) => error,
        };
        let can_stand = matches!(instruction.op, Op::Call | Op::While | Op::Conditional);
        let Some(refused) = self.refused.as_mut().filter(|_| can_stand) else { return Err(error) };
        refused.insert(instruction.name.clone(), error.to_string());
        // Removes the instructions added so far.
        self.flat.nodes.truncate(before);
        self.depth = depth;
        let op = Op::Opaque(Foreign { name: instruction.name.clone(), config: String::new() });
        self.arrays(&Instruction { op, called: Vec::new(), ..instruction.clone() }, operands)
    }

    fn written_out(
        &mut self,
        instruction: &Instruction,
        operands: &[Flow],
        arguments: &[Flow],
    ) -> Result<Flow, Refusal> {
        let wrong = |what: &str| refuse!("{}: {what}", instruction.name);
        let called =
            |n: usize| instruction.called.get(n).copied().ok_or_else(|| wrong("a called computation is missing"));
        match &instruction.op {
            Op::Parameter(n) => arguments.get(*n as usize).cloned().ok_or_else(|| wrong("a parameter is missing")),
            Op::Tuple => Ok(Flow::Tuple(operands.to_vec())),
            Op::GetTupleElement(n) => match operands.first() {
                Some(Flow::Tuple(parts)) => parts.get(*n as usize).cloned().ok_or_else(|| wrong("a part is missing")),
                _ => Err(wrong("its operand is not a tuple")),
            },
            Op::Barrier => Ok(match operands {
                [] => Flow::Token,
                [one] => one.clone(),
                many => Flow::Tuple(many.to_vec()),
            }),
            Op::Call => self.computation(called(0)?, operands),
            Op::While => self.repeat(instruction, called(0)?, called(1)?, operands),
            Op::Conditional => {
                let [Flow::Array(selector), branches @ ..] = operands else { return Err(wrong("it has no condition")) };
                let chosen =
                    self.flat.nodes[*selector].value.as_ref().and_then(|v| branch(v, instruction.called.len()));
                let open = || depends_on_data(&instruction.name, "data decides which branch runs");
                let chosen = chosen.ok_or_else(open)?;
                self.computation(called(chosen)?, &Vec::from_iter(branches.get(chosen).cloned()))
            }
            _ => self.arrays(instruction, operands),
        }
    }

    /// An operation on arrays; one node for each of its results.
    fn arrays(&mut self, instruction: &Instruction, operands: &[Flow]) -> Result<Flow, Refusal> {
        let mut inputs = Vec::new();
        operands.iter().for_each(|o| leaves(o, &mut inputs));
        let combine = instruction.called.first().map(|&c| combine_of(&self.program.computations[c]));
        let mut results = Vec::new();
        let mut types = Vec::new();
        array_types(&instruction.ty, &mut types);
        for (part, ty) in (0..).zip(types) {
            let mut node = self.node(&instruction.name, instruction.op.clone(), inputs.clone(), ty.clone());
            node.origin = instruction.origin.clone();
            node.part = part;
            node.combine = combine;
            results.push(self.push(node)?);
        }
        let mut results = results.into_iter();
        Ok(shaped(&instruction.ty, &mut results))
    }

    fn repeat(
        &mut self,
        instruction: &Instruction,
        condition: ComputationId,
        body: ComputationId,
        operands: &[Flow],
    ) -> Result<Flow, Refusal> {
        let control = |what| depends_on_data(&instruction.name, what);
        let mut state = operands.first().cloned().ok_or_else(|| control("it has no state"))?;
        for _ in 0..MOST_TURNS {
            let before = self.flat.nodes.len();
            let said = self.computation(condition, std::slice::from_ref(&state))?;
            let Flow::Array(said) = said else { return Err(control("its condition is not a boolean")) };
            let known = self.flat.nodes[said].value.as_ref().and_then(truth);
            let Some(goes_on) = known else { return Err(control("data decides how often it turns")) };
            // Removes the nodes of the condition.
            self.flat.nodes.truncate(before);
            if !goes_on {
                return Ok(state);
            }
            state = self.computation(body, &[state])?;
        }
        Err(control("it turns more often than is written out"))
    }
}

/// The instructions that the root depends on: the others of a loop's body must not be written out.
fn live(computation: &Computation) -> IndexVec<InstructionId, bool> {
    let mut live: IndexVec<InstructionId, bool> = computation.instructions.iter().map(|_| false).collect();
    let mut stack = vec![computation.root];
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut live[id], true) {
            stack.extend(&computation.instructions[id].operands);
        }
    }
    live
}

fn array_types<'t>(ty: &'t Type, out: &mut Vec<&'t ArrayType>) {
    match ty {
        Type::Array(array) => out.push(array),
        Type::Tuple(parts) => parts.iter().for_each(|p| array_types(p, out)),
        Type::Token => {}
    }
}

/// Results in the shape of a type.
fn shaped(ty: &Type, results: &mut impl Iterator<Item = FlatId>) -> Flow {
    match ty {
        Type::Array(_) => results.next().map_or(Flow::Token, Flow::Array),
        Type::Tuple(parts) => Flow::Tuple(parts.iter().map(|p| shaped(p, results)).collect()),
        Type::Token => Flow::Token,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match &value.numbers {
        Numbers::Whole(v) => v.first().map(|&v| v != 0),
        _ => None,
    }
}

/// The branch that a known condition selects.
fn branch(value: &Value, branches: usize) -> Option<usize> {
    let Numbers::Whole(v) = &value.numbers else { return None };
    Some(chosen_branch(*v.first()?, value.ty.element == ElementType::Pred, branches))
}

fn combine_of(computation: &Computation) -> Combine {
    let root = &computation.instructions[computation.root];
    let is_simple = computation.instructions.len() == 3;
    match root.op {
        Op::Binary(Binary::Add) if is_simple => Combine::Sum,
        Op::Binary(Binary::Mul) if is_simple => Combine::Product,
        Op::Binary(Binary::Max | Binary::Or) if is_simple => Combine::Max,
        Op::Binary(Binary::Min | Binary::And) if is_simple => Combine::Min,
        _ => combine_of_booleans(computation).unwrap_or(Combine::Other),
    }
}

/// How a computation combines two booleans, found by trying all of them: torch_xla writes "and" with comparisons and a
/// selection.
fn combine_of_booleans(computation: &Computation) -> Option<Combine> {
    let table = [(false, false), (false, true), (true, false), (true, true)];
    let given = table.map(|(a, b)| boolean_of(computation, [a, b]));
    if given == [Some(false), Some(false), Some(false), Some(true)] {
        return Some(Combine::Min);
    }
    (given == [Some(false), Some(true), Some(true), Some(true)]).then_some(Combine::Max)
}

/// The result of a computation for two booleans; `None` when it has operations other than those of booleans.
fn boolean_of(computation: &Computation, operands: [bool; 2]) -> Option<bool> {
    let mut values: IndexVec<InstructionId, bool> = IndexVec::new();
    for instruction in computation.instructions.iter() {
        let read = instruction.operands.iter().map(|o| values.get(*o).copied()).collect::<Option<Vec<bool>>>()?;
        let value = match (&instruction.op, read.as_slice()) {
            (Op::Parameter(n), []) => *operands.get(*n as usize)?,
            (Op::Constant(value), []) => truth(value)?,
            (Op::Binary(Binary::And | Binary::Min), [a, b]) => *a && *b,
            (Op::Binary(Binary::Or | Binary::Max), [a, b]) => *a || *b,
            (Op::Compare(Comparison::Ne), [a, b]) => a != b,
            (Op::Compare(Comparison::Eq), [a, b]) => a == b,
            (Op::Unary(Unary::Not), [a]) => !a,
            (Op::Select, [condition, yes, no]) => {
                if *condition {
                    *yes
                } else {
                    *no
                }
            }
            _ => return None,
        };
        values.push(value);
    }
    values.get(computation.root).copied()
}

/// Position of an operation in a [`Flat`].
pub(super) type FlatId = usize;

/// An operation on arrays.
#[derive(Clone, Debug)]
pub(super) struct FlatNode {
    pub name: String,
    pub op: Op,
    pub operands: Vec<FlatId>,
    pub ty: ArrayType,
    pub origin: Origin,
    /// Its numbers, if it is small and depends only on constants.
    pub value: Option<Value>,
    /// The number that every element has, when that is known.
    pub splat: Option<f64>,
    /// For an operation with several results, the index of this one.
    pub part: u32,
    /// How the computation that a reduction calls combines values, and the number of operands before the initial
    /// values.
    pub combine: Option<Combine>,
}

/// How a reduction combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    Sum,
    Product,
    Max,
    Min,
    /// Anything else: an arg max, a pair.
    Other,
}

/// A program without calls, loops and tuples. Operands come before their users.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    pub nodes: Vec<FlatNode>,
    pub results: Vec<FlatId>,
}
fn depends_on_data(name: &str, what: &str) -> Refusal {
    refuse!("{name}: {what}; a NeuronCore runs a fixed program, so the number of turns and the branch must be known")
}
