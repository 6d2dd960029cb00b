//! Runs computations: calls, loops and branches. Each other family of operations has its own file.

use std::rc::Rc;

use super::casts::{Arithmetic, Casts};
use super::simple::value_of;
use super::{indexing, normalise, reduce, sort, windows};
use crate::written_out;
use crate::{
    ArrayType, Computation, ComputationId, ElementType, Instruction, InstructionId, Numbers, Op, Program, Type, Value,
    chosen_branch,
};
use ns_base::{Idx, IndexVec};
use ns_base::{Refusal, refuse};

/// A value while a program runs. Arrays are shared, so passing a value on copies nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EvalValue {
    Array(Rc<Value>),
    Tuple(Rc<[EvalValue]>),
    Token,
}

impl EvalValue {
    pub(super) fn of(value: Value) -> Self {
        Self::Array(Rc::new(value))
    }

    fn tuple(values: impl IntoIterator<Item = Value>) -> Self {
        Self::Tuple(values.into_iter().map(Self::of).collect())
    }

    fn array(&self) -> Result<&Rc<Value>, Refusal> {
        match self {
            Self::Array(value) => Ok(value),
            _ => Err(refuse!("an operand is not an array")),
        }
    }

    fn flatten(&self, out: &mut Vec<Value>) {
        match self {
            Self::Array(value) => out.push(value.as_ref().clone()),
            Self::Tuple(parts) => parts.iter().for_each(|p| p.flatten(out)),
            Self::Token => {}
        }
    }
}

/// The results of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The arrays of its result, in order; tuples are flattened.
    pub outputs: Vec<Value>,
    /// Elements computed, a measure of the work.
    pub work: u64,
}

/// Most instructions of a program with its calls written out: some seconds of work, even if each has one element.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

/// Checks that a program is not too large to be computed once its calls are written out. Fails when it is.
pub fn check_calls(program: &Program) -> Result<(), Refusal> {
    let instructions = written_out(program).get(program.entry.index()).copied().unwrap_or_default();
    if instructions > MOST_INSTRUCTIONS {
        return Err(refuse!(
            "the program has {instructions} instructions once its calls are written out, and {MOST_INSTRUCTIONS} are the most that are computed"
        ));
    }
    Ok(())
}

/// Computes the results of a program from one value for each parameter, within `budget` computed elements. Fails when a parameter
/// has no value or a value of another type, when an operation is unknown, or when the budget is used up.
pub fn evaluate(program: &Program, parameters: Vec<Value>, budget: u64) -> Result<Evaluation, Refusal> {
    evaluate_with(program, parameters, budget, Casts::NONE)
}

/// As [`evaluate`], with single-precision numbers cast as a NeuronCore casts them, and operators from outside of the program. Fails
/// as [`evaluate`].
pub fn evaluate_with<'p>(
    program: &'p Program,
    parameters: Vec<Value>,
    budget: u64,
    arithmetic: impl Into<Arithmetic<'p>>,
) -> Result<Evaluation, Refusal> {
    if parameters.len() != program.parameters.len() {
        return Err(refuse!(
            "the program takes {} arrays and {} are given",
            program.parameters.len(),
            parameters.len()
        ));
    }
    for (parameter, value) in program.parameters.iter().zip(&parameters) {
        if parameter.ty != value.ty {
            let (name, takes, given) = (&parameter.name, &parameter.ty, &value.ty);
            return Err(refuse!("{name} is {takes} and the value given is {given}"));
        }
    }
    check_calls(program)?;
    let work = least_work(program);
    if work > budget {
        return Err(too_much(work, budget));
    }
    let arithmetic = arithmetic.into();
    let mut evaluator = Evaluator { program, work: 0, budget, depth: 0, arithmetic };
    let arguments: Vec<EvalValue> = parameters.into_iter().map(EvalValue::of).collect();
    let result = evaluator.run(program.entry, &arguments).map_err(|(Stop::Op(error) | Stop::Whole(error))| error)?;
    let mut outputs = Vec::new();
    result.flatten(&mut outputs);
    Ok(Evaluation { outputs, work: evaluator.work })
}

/// Most levels of calls: deeper ones mean that the program calls itself.
const MAX_DEPTH: u32 = 200;

/// A program that is being run.
pub(super) struct Evaluator<'a> {
    pub(super) program: &'a Program,
    work: u64,
    budget: u64,
    depth: u32,
    arithmetic: Arithmetic<'a>,
}

impl Evaluator<'_> {
    fn run(&mut self, id: ComputationId, arguments: &[EvalValue]) -> Result<EvalValue, Stop> {
        let program = self.program;
        let computation = &program.computations[id];
        if self.depth >= MAX_DEPTH {
            let name = &computation.name;
            return Err(Stop::Whole(refuse!("{name} calls itself: calls are nested {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let last_uses = last_uses(computation);
        let root = &computation.instructions[computation.root];
        let results = if matches!(root.op, Op::Tuple) { root.operands.as_slice() } else { &[] };
        let mut values: IndexVec<InstructionId, Option<EvalValue>> =
            computation.instructions.iter().map(|_| None).collect();
        for (at, instruction) in computation.instructions.iter_enumerated() {
            let operands: Option<Vec<EvalValue>> = instruction.operands.iter().map(|&o| values[o].clone()).collect();
            let fail = |what: Refusal| Stop::Whole(refuse!("{} ({}): {what}", instruction.name, computation.name));
            let operands = operands.ok_or_else(|| fail(refuse!("an operand comes later")))?;
            let is_result = id == program.entry && (at == computation.root || results.contains(&at));
            let value = match self.step(instruction, &operands, arguments) {
                Ok(EvalValue::Array(value)) if !is_result => {
                    EvalValue::Array(self.arithmetic.casts.round_for_storage(&instruction.op, value))
                }
                Ok(value) => value,
                Err(Stop::Op(what)) => return Err(fail(what)),
                Err(whole) => return Err(whole),
            };
            values[at] = Some(value);
            for &operand in &instruction.operands {
                if last_uses[operand] == at && operand != computation.root {
                    values[operand] = None;
                }
            }
        }
        self.depth -= 1;
        let result = values[computation.root].take();
        result.ok_or_else(|| Stop::Whole(refuse!("{} has no result", computation.name)))
    }

    fn spend(&mut self, elements: u64) -> Result<(), Stop> {
        self.work = self.work.saturating_add(elements);
        if self.work > self.budget { Err(Stop::Whole(too_much(self.work, self.budget))) } else { Ok(()) }
    }

    /// The result of an operator that has its meaning from outside of the program.
    fn outside(&self, op: &Op, operands: &[Rc<Value>], ty: &ArrayType) -> Option<Result<Value, Refusal>> {
        let (Op::Opaque(what) | Op::CustomCall(what), Some(outside)) = (op, self.arithmetic.outside) else {
            return None;
        };
        outside(&what.name, operands, ty)
    }

    fn step(
        &mut self,
        instruction: &Instruction,
        operands: &[EvalValue],
        arguments: &[EvalValue],
    ) -> Result<EvalValue, Stop> {
        let operand = |n: usize| operands.get(n).and_then(|o| o.array().ok()).map(|v| &v.ty);
        self.spend(work_of(instruction, operand))?;
        match &instruction.op {
            Op::Parameter(n) => {
                let value = arguments.get(*n as usize).cloned();
                Ok(value.ok_or_else(|| refuse!("parameter {n} has no value"))?)
            }
            Op::Tuple => Ok(EvalValue::Tuple(operands.into())),
            Op::GetTupleElement(n) => match operands.first() {
                Some(EvalValue::Tuple(parts)) if (*n as usize) < parts.len() => Ok(parts[*n as usize].clone()),
                _ => Err(refuse!("the operand has no part {n}").into()),
            },
            Op::Barrier => Ok(match operands {
                [] => EvalValue::Token,
                [one] => one.clone(),
                many => EvalValue::Tuple(many.into()),
            }),
            Op::Call => self.run(called(instruction, 0)?, operands),
            Op::While => self.repeat(instruction, operands),
            Op::Conditional => self.choose(instruction, operands),
            Op::Map => self.map(instruction, operands),
            Op::BatchNormTraining { epsilon, feature } => {
                let [x, scale, offset] = arrays(operands)?;
                Ok(EvalValue::tuple(normalise::training(&x, &scale, &offset, *epsilon, *feature)?))
            }
            Op::BatchNormGrad { epsilon, feature } => {
                let [x, scale, mean, variance, gradient] = arrays(operands)?;
                Ok(EvalValue::tuple(normalise::gradient(&x, &scale, &mean, &variance, &gradient, *epsilon, *feature)?))
            }
            Op::TopK { k, is_largest } => {
                let [x] = arrays(operands)?;
                Ok(EvalValue::tuple(sort::top_k(&x, *k, *is_largest, index_type(&instruction.ty))?))
            }
            Op::Sort { .. }
            | Op::Reduce { .. }
            | Op::ReduceWindow { .. }
            | Op::SelectAndScatter { .. }
            | Op::Scatter(_) => self.combine(instruction, operands),
            op => {
                let mut all = all_arrays(operands)?;
                if matches!(op, Op::Dot(_) | Op::Convolution { .. }) {
                    all = all.iter().map(|x| self.arithmetic.casts.product_operand(x)).collect();
                }
                let ty = instruction.ty.array().ok_or_else(|| refuse!("the result is not an array"))?;
                let own = || {
                    let operands: Vec<&Value> = all.iter().map(Rc::as_ref).collect();
                    value_of(op, &operands, ty)
                };
                Ok(EvalValue::of(self.outside(op, &all, ty).unwrap_or_else(own)?))
            }
        }
    }

    /// Operations that call a computation for single numbers of their operands.
    fn combine(&mut self, instruction: &Instruction, operands: &[EvalValue]) -> Result<EvalValue, Stop> {
        match &instruction.op {
            Op::Sort { dimension, .. } => {
                let all = all_arrays(operands)?;
                let order = called(instruction, 0)?;
                let sorted = sort::sort(&all, *dimension, |pair| self.call_numbers(order, pair))?;
                Ok(several(sorted))
            }
            Op::Reduce { dimensions } => {
                let all = all_arrays(operands)?;
                let combine = self.combiner(called(instruction, 0)?);
                let reduced = reduce::reduce(&all, dimensions, &combine, |values| {
                    self.call_numbers(called(instruction, 0)?, values)
                })?;
                Ok(several(reduced))
            }
            Op::ReduceWindow { window } => {
                let all = all_arrays(operands)?;
                let combine = self.combiner(called(instruction, 0)?);
                let reduced = windows::reduce_window(&all, window, &combine, |values| {
                    self.call_numbers(called(instruction, 0)?, values)
                })?;
                Ok(several(reduced))
            }
            Op::SelectAndScatter { window } => {
                let [x, source, initial] = arrays(operands)?;
                let (select, add) = (called(instruction, 0)?, called(instruction, 1)?);
                let mut call = |id: usize, values: Vec<Value>| self.call_numbers([select, add][id], values);
                Ok(EvalValue::of(windows::select_and_scatter(&x, &source, &initial, window, &mut call)?))
            }
            Op::Scatter(dims) => {
                let all = all_arrays(operands)?;
                let update = called(instruction, 0)?;
                let combine = self.combiner(update);
                Ok(several(indexing::scatter(&all, dims, &combine, |values| self.call_numbers(update, values))?))
            }
            _ => Err(refuse!("the operation has no value of its own").into()),
        }
    }

    /// Runs a computation of single numbers.
    pub(super) fn call_numbers(&mut self, id: ComputationId, values: Vec<Value>) -> Result<Vec<Value>, Stop> {
        let arguments: Vec<EvalValue> = values.into_iter().map(EvalValue::of).collect();
        // Reductions add up in single precision, whatever the casts.
        let casts = std::mem::replace(&mut self.arithmetic.casts, Casts::NONE);
        let result = self.run(id, &arguments);
        self.arithmetic.casts = casts;
        let result = result?;
        let mut parts = Vec::new();
        result.flatten(&mut parts);
        Ok(parts)
    }

    /// The operation of a computation of two numbers, if it consists of one operation.
    fn combiner(&self, id: ComputationId) -> reduce::Combine {
        reduce::Combine::of(&self.program.computations[id])
    }

    fn repeat(&mut self, instruction: &Instruction, operands: &[EvalValue]) -> Result<EvalValue, Stop> {
        let (condition, body) = (called(instruction, 0)?, called(instruction, 1)?);
        let mut state = operands.first().cloned().ok_or_else(|| refuse!("the loop has no state"))?;
        loop {
            self.spend(1)?;
            let goes_on = self.run(condition, std::slice::from_ref(&state))?;
            if !is_true(goes_on.array()?)? {
                return Ok(state);
            }
            state = self.run(body, &[state])?;
        }
    }

    fn choose(&mut self, instruction: &Instruction, operands: &[EvalValue]) -> Result<EvalValue, Stop> {
        let [selector, branches @ ..] = operands else {
            return Err(refuse!("the branch has no condition").into());
        };
        let value = selector.array()?;
        let Numbers::Whole(numbers) = &value.numbers else {
            return Err(refuse!("the branch's index is not a whole number").into());
        };
        let index = numbers.first().copied().unwrap_or(-1);
        let chosen = chosen_branch(index, value.ty.element == ElementType::Pred, instruction.called.len());
        let argument = branches.get(chosen).cloned();
        self.run(called(instruction, chosen)?, &Vec::from_iter(argument))
    }

    fn map(&mut self, instruction: &Instruction, operands: &[EvalValue]) -> Result<EvalValue, Stop> {
        let all = all_arrays(operands)?;
        let ty = instruction.ty.array().ok_or_else(|| refuse!("the result is not an array"))?;
        let n = all.first().map_or(0, |v| v.numbers.len());
        let mut results = Vec::with_capacity(n);
        for i in 0..n {
            let values = all.iter().map(|v| reduce::number(v, i)).collect();
            let mut one = self.call_numbers(called(instruction, 0)?, values)?;
            results.push(one.pop().ok_or_else(|| refuse!("the computation gives nothing"))?);
        }
        Ok(EvalValue::of(reduce::joined(results, ty)?))
    }
}

/// Why a step failed.
pub(super) enum Stop {
    /// The operation cannot be computed.
    Op(Refusal),
    /// The evaluation cannot continue.
    Whole(Refusal),
}

impl From<Refusal> for Stop {
    fn from(what: Refusal) -> Self {
        Self::Op(what)
    }
}

fn called(instruction: &Instruction, n: usize) -> Result<ComputationId, Refusal> {
    instruction.called.get(n).copied().ok_or_else(|| refuse!("called computation {n} is missing"))
}

fn all_arrays(operands: &[EvalValue]) -> Result<Vec<Rc<Value>>, Refusal> {
    operands.iter().map(|o| o.array().cloned()).collect()
}

fn arrays<const N: usize>(operands: &[EvalValue]) -> Result<[Rc<Value>; N], Refusal> {
    let all = all_arrays(operands)?;
    let n = all.len();
    all.try_into().map_err(|_| refuse!("it takes {N} operands and has {n}"))
}

/// One value, or several as a tuple.
fn several(mut values: Vec<Value>) -> EvalValue {
    match (values.len(), values.pop()) {
        (1, Some(one)) => EvalValue::of(one),
        (_, last) => EvalValue::tuple(values.into_iter().chain(last)),
    }
}

fn is_true(value: &Value) -> Result<bool, Refusal> {
    match &value.numbers {
        Numbers::Whole(v) => Ok(v.first().is_some_and(|&v| v != 0)),
        _ => Err(refuse!("the condition is not a boolean")),
    }
}

/// Element type of a tuple's second part, the indices.
fn index_type(ty: &Type) -> ElementType {
    match ty {
        Type::Tuple(parts) => parts.get(1).and_then(Type::array).map_or(ElementType::S32, |a| a.element),
        _ => ElementType::S32,
    }
}

/// Number of elements in the result, or of multiply-adds in a product.
fn work_of<'a>(instruction: &Instruction, operand: impl Fn(usize) -> Option<&'a ArrayType>) -> u64 {
    let result = instruction.ty.array().and_then(ArrayType::elements).unwrap_or(1);
    match &instruction.op {
        Op::Dot(dims) => {
            let depth = operand(0).map_or(1, |t| {
                dims.lhs_contracting
                    .iter()
                    .filter_map(|&d| t.dims.get(d as usize))
                    .fold(1u64, |n, &d| n.saturating_mul(d))
            });
            result.saturating_mul(depth)
        }
        Op::Convolution { dims, .. } => {
            let kernel = operand(1).map_or(1, |t| {
                let out = t.dims.get(dims.kernel.1 as usize).copied().unwrap_or(1).max(1);
                t.elements().unwrap_or(u64::MAX) / out
            });
            result.saturating_mul(kernel)
        }
        Op::Reduce { .. } => operand(0).and_then(ArrayType::elements).unwrap_or(1),
        _ => result,
    }
}

fn too_much(work: u64, budget: u64) -> Refusal {
    refuse!("the program needs {work} operations or more, and {budget} are the most: choose smaller inputs")
}

/// Elements that a program computes at least: what a loop does counts once, and branches do not count.
fn least_work(program: &Program) -> u64 {
    let mut works: Vec<u64> = Vec::with_capacity(program.computations.len());
    // A computation calls only those before it.
    for computation in program.computations.iter() {
        let work = computation.instructions.iter().map(|instruction| {
            let operand = |n: usize| {
                let id = *instruction.operands.get(n)?;
                computation.instructions.get(id)?.ty.array()
            };
            let is_called = matches!(instruction.op, Op::Call);
            let inside = instruction.called.iter().filter(|_| is_called).filter_map(|id| works.get(id.index()));
            inside.fold(work_of(instruction, operand), |sum, work| sum.saturating_add(*work))
        });
        works.push(work.fold(0, u64::saturating_add));
    }
    works.get(program.entry.index()).copied().unwrap_or_default()
}

/// For each instruction, the last one that reads it; after that its value is dropped.
fn last_uses(computation: &Computation) -> IndexVec<InstructionId, InstructionId> {
    let mut last: IndexVec<InstructionId, InstructionId> =
        computation.instructions.iter_enumerated().map(|(id, _)| id).collect();
    for (id, instruction) in computation.instructions.iter_enumerated() {
        for &operand in &instruction.operands {
            last[operand] = id;
        }
    }
    last
}
