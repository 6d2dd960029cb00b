//! How often loops run, if that is the same on every call.
//!
//! A loop's count is known if its condition compares a counter with a constant, the body raises or lowers the counter by a constant, and the
//! counter begins as a constant. `for` loops, scans and recurrent layers of every framework have this form.

use std::cell::Cell;

use super::{
    Binary, Comparison, Computation, ComputationId, ElementType, Instruction, InstructionId, Numbers, Op, Program,
    Type, Unary,
};
use ns_base::FxHashMap;

/// How deep calls, tuples and conversions are followed; a number behind more of them counts as unknown.
const MOST_STEPS: u32 = 64;

/// How many instructions are examined for one loop.
const MOST_LOOKS: u32 = 20_000;

/// Finds how often loops of one program run.
#[derive(Debug)]
pub struct TripCounts<'a> {
    program: &'a Program,
    callers: FxHashMap<ComputationId, Vec<(ComputationId, InstructionId)>>,
    looks: Cell<u32>,
}

/// A number inside a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Constant(i64),
    /// An element of the loop's state at the start of a turn, plus a constant.
    Carried(u32, i64),
    /// Two elements of the state, plus a constant; with `is_minus` the second is subtracted.
    Both {
        first: u32,
        second: u32,
        is_minus: bool,
        added: i64,
    },
}

/// Values of the parameters of a computation that is examined.
#[derive(Clone, Copy)]
enum Arguments<'a> {
    /// A loop's body or condition: its parameter is the loop's state.
    Carried,
    /// A called computation: the call's operands, in the calling computation.
    Of(&'a Computation, &'a [InstructionId], &'a Arguments<'a>),
}

/// A loop in its computation.
#[derive(Clone, Copy)]
struct Loop<'a> {
    computation: ComputationId,
    instruction: &'a Instruction,
    body: &'a Computation,
}

impl<'a> TripCounts<'a> {
    pub fn of(program: &'a Program) -> Self {
        let mut callers: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (from, computation) in program.computations.iter_enumerated() {
            for (id, instruction) in computation.instructions.iter_enumerated() {
                for callee in &instruction.called {
                    callers.entry(*callee).or_default().push((from, id));
                }
            }
        }
        Self { program, callers, looks: Cell::new(0) }
    }

    /// How often the loop `instruction` of `computation` runs; `None` if that depends on data.
    pub fn count(&self, computation: ComputationId, instruction: &Instruction) -> Option<u64> {
        self.looks.set(MOST_LOOKS);
        let [condition, body] = instruction.called[..] else { return None };
        let (condition, body) = (self.program.computations.get(condition)?, self.program.computations.get(body)?);
        let around = Loop { computation, instruction, body };
        let count = self.turns_while(around, condition, condition.root, None, &Arguments::Carried, MOST_STEPS)?;
        (count != u64::MAX).then_some(count)
    }

    /// The branch that the conditional `instruction` of `computation` runs on every call; `None` if data decides.
    pub fn branch(&self, computation: ComputationId, instruction: &Instruction) -> Option<usize> {
        self.looks.set(MOST_LOOKS);
        let selector = *instruction.operands.first()?;
        let number = self.constant(computation, selector, MOST_STEPS)?;
        let ty = &self.program.computations.get(computation)?.instructions.get(selector)?.ty;
        let is_boolean = ty.array()?.element == ElementType::Pred;
        Some(chosen_branch(number, is_boolean, instruction.called.len()))
    }

    /// How often the loop runs while a condition holds, which may be part `part` of a tuple; [`u64::MAX`] if it always holds. Conditions of
    /// TensorFlow join two counters, and are passed on through calls and tuples.
    fn turns_while(
        &self,
        around: Loop<'_>,
        within: &Computation,
        id: InstructionId,
        part: Option<u32>,
        arguments: &Arguments<'_>,
        steps: u32,
    ) -> Option<u64> {
        let steps = self.look(steps)?;
        let test = within.instructions.get(id)?;
        let of = |id, part| self.turns_while(around, within, id, part, arguments, steps);
        match (&test.op, &test.operands[..], part) {
            (Op::Compare(comparison), &[left, right], None) => {
                let left = self.number(within, left, arguments, steps)?;
                let right = self.number(within, right, arguments, steps)?;
                self.turns_of_comparison(around, *comparison, left, right)
            }
            (Op::Binary(Binary::And), &[left, right], None) => Some(of(left, None)?.min(of(right, None)?)),
            (Op::Constant(value), _, None) => match &value.numbers {
                Numbers::Whole(numbers) => Some(if *numbers.first()? == 0 { 0 } else { u64::MAX }),
                _ => None,
            },
            (Op::GetTupleElement(k), &[tuple], None) => of(tuple, Some(*k)),
            (Op::Tuple, parts, Some(k)) => of(*parts.get(k as usize)?, None),
            (Op::Call, operands, part) => {
                let callee = self.program.computations.get(*test.called.first()?)?;
                let inner = Arguments::Of(within, operands, arguments);
                self.turns_while(around, callee, callee.root, part, &inner, steps)
            }
            (_, _, part) => of(passed(test)?, part),
        }
    }

    /// How often the loop runs while one number compares so with another, of which one is a counter and the other never changes.
    fn turns_of_comparison(
        &self,
        around: Loop<'_>,
        comparison: Comparison,
        left: Number,
        right: Number,
    ) -> Option<u64> {
        let start = |k| self.start(around.computation, around.instruction, k, MOST_STEPS);
        let step = |k| self.step(around, k);
        let fixed = |number| match number {
            Number::Constant(n) => Some(n),
            Number::Carried(k, offset) if step(k)? == 0 => start(k)?.checked_add(offset),
            Number::Carried(..) | Number::Both { .. } => None,
        };
        if let Some(limit) = fixed(right)
            && let Number::Carried(k, offset) = left
        {
            return turns(comparison, start(k)?.checked_add(offset)?, step(k)?, limit);
        }
        let Number::Carried(k, offset) = right else { return None };
        turns(mirrored(comparison), start(k)?.checked_add(offset)?, step(k)?, fixed(left)?)
    }

    /// Takes one step from the budget; `None` if it is used up.
    fn look(&self, steps: u32) -> Option<u32> {
        self.looks.set(self.looks.get().checked_sub(1)?);
        steps.checked_sub(1)
    }

    /// The value of element `k` when the loop begins.
    fn start(&self, computation: ComputationId, instruction: &Instruction, k: u32, steps: u32) -> Option<i64> {
        let whole = *instruction.operands.first()?;
        let tuple = self.program.computations.get(computation)?.instructions.get(whole)?;
        let element = match tuple.op {
            Op::Tuple => *tuple.operands.get(k as usize)?,
            _ if k == 0 => whole,
            _ => return None,
        };
        self.constant(computation, element, steps)
    }

    /// The change of element `k` in a turn: a constant, or an element that no turn changes.
    fn step(&self, around: Loop<'_>, k: u32) -> Option<i64> {
        let same = |k| self.unchanged(around.computation, around.instruction, k, MOST_STEPS);
        match self.after(around.body, k)? {
            Number::Carried(same, step) if same == k => Some(step),
            Number::Both { first, second, is_minus: false, added } if (first == k) != (second == k) => {
                same(if first == k { second } else { first })?.checked_add(added)
            }
            Number::Both { first, second, is_minus: true, added } if first == k && second != k => {
                added.checked_sub(same(second)?)
            }
            _ => None,
        }
    }

    /// The value of element `k` after a turn.
    fn after(&self, body: &Computation, k: u32) -> Option<Number> {
        let root = body.instructions.get(body.root)?;
        match root.ty {
            Type::Tuple(_) => self.element(body, body.root, k, &Arguments::Carried, MOST_STEPS),
            _ => self.number(body, body.root, &Arguments::Carried, MOST_STEPS),
        }
    }

    /// A number that is the same on every call of the program.
    fn constant(&self, computation: ComputationId, id: InstructionId, steps: u32) -> Option<i64> {
        let steps = self.look(steps)?;
        let body = self.program.computations.get(computation)?;
        let instruction = body.instructions.get(id)?;
        match &instruction.op {
            Op::Parameter(n) if matches!(instruction.ty, Type::Array(_)) => {
                self.same_for_callers(computation, |from, call| match call.op {
                    Op::Call => self.constant(from, *call.operands.get(*n as usize)?, steps / 2),
                    Op::While => self.unchanged(from, call, *n, steps / 2),
                    _ => None,
                })
            }
            _ => match self.number(body, id, &Arguments::Carried, steps)? {
                Number::Constant(n) => Some(n),
                Number::Carried(k, added) if matches!(instruction.op, Op::GetTupleElement(_)) => {
                    let number = self.same_for_callers(computation, |from, call| match call.op {
                        Op::While => self.unchanged(from, call, k, steps / 2),
                        _ => None,
                    })?;
                    number.checked_add(added)
                }
                Number::Carried(..) | Number::Both { .. } => {
                    passed(instruction).and_then(|operand| self.constant(computation, operand, steps))
                }
            },
        }
    }

    /// Element `k` of a loop's state, if no turn changes it.
    fn unchanged(&self, computation: ComputationId, around: &Instruction, k: u32, steps: u32) -> Option<i64> {
        let body = self.program.computations.get(*around.called.get(1)?)?;
        let is_same = self.after(body, k)? == Number::Carried(k, 0);
        if is_same { self.start(computation, around, k, steps) } else { None }
    }

    /// A number that is the same at every call of a computation.
    fn same_for_callers(
        &self,
        computation: ComputationId,
        value: impl Fn(ComputationId, &Instruction) -> Option<i64>,
    ) -> Option<i64> {
        let mut found = None;
        for &(from, call) in self.callers.get(&computation)? {
            let value = value(from, &self.program.computations[from].instructions[call])?;
            if found.replace(value).is_some_and(|before| before != value) {
                return None;
            }
        }
        found
    }

    fn number(&self, within: &Computation, id: InstructionId, arguments: &Arguments<'_>, steps: u32) -> Option<Number> {
        let steps = self.look(steps)?;
        let instruction = within.instructions.get(id)?;
        let operand = |i: usize| instruction.operands.get(i).copied();
        match &instruction.op {
            Op::Constant(value) => match &value.numbers {
                Numbers::Whole(numbers) => numbers.first().map(|&n| Number::Constant(n)),
                _ => None,
            },
            Op::Parameter(n) => match arguments {
                Arguments::Carried => Some(Number::Carried(*n, 0)),
                Arguments::Of(outer, operands, around) => {
                    self.number(outer, *operands.get(*n as usize)?, around, steps)
                }
            },
            Op::GetTupleElement(k) => self.element(within, operand(0)?, *k, arguments, steps),
            Op::Binary(f @ (Binary::Add | Binary::Sub)) => {
                let a = self.number(within, operand(0)?, arguments, steps)?;
                let b = self.number(within, operand(1)?, arguments, steps)?;
                combined(*f, a, b)
            }
            Op::Call => {
                let callee = self.program.computations.get(*instruction.called.first()?)?;
                self.number(callee, callee.root, &Arguments::Of(within, &instruction.operands, arguments), steps)
            }
            _ => self.number(within, passed(instruction)?, arguments, steps),
        }
    }

    /// Element `k` of a tuple.
    fn element(
        &self,
        within: &Computation,
        tuple: InstructionId,
        k: u32,
        arguments: &Arguments<'_>,
        steps: u32,
    ) -> Option<Number> {
        let steps = self.look(steps)?;
        let instruction = within.instructions.get(tuple)?;
        match (&instruction.op, arguments) {
            (Op::Tuple, _) => self.number(within, *instruction.operands.get(k as usize)?, arguments, steps),
            (Op::Parameter(0), Arguments::Carried) => Some(Number::Carried(k, 0)),
            (Op::Parameter(n), Arguments::Of(outer, operands, around)) => {
                self.element(outer, *operands.get(*n as usize)?, k, around, steps)
            }
            (Op::Call, _) => {
                let callee = self.program.computations.get(*instruction.called.first()?)?;
                let inner = Arguments::Of(within, &instruction.operands, arguments);
                self.element(callee, callee.root, k, &inner, steps)
            }
            (Op::Barrier, _) => self.element(within, *instruction.operands.first()?, k, arguments, steps),
            _ => None,
        }
    }
}

/// The branch that a number chooses: a boolean the first one if it is true, and an index outside of the branches the last one.
pub fn chosen_branch(selector: i64, is_boolean: bool, branches: usize) -> usize {
    let last = branches.saturating_sub(1);
    if is_boolean { usize::from(selector == 0) } else { usize::try_from(selector).map_or(last, |at| at.min(last)) }
}

/// The operand whose value an instruction passes on.
fn passed(instruction: &Instruction) -> Option<InstructionId> {
    match instruction.op {
        Op::Convert | Op::Reshape | Op::Broadcast { .. } | Op::Barrier | Op::Unary(Unary::RoundHalfEven) => {
            instruction.operands.first().copied()
        }
        _ => None,
    }
}

fn combined(f: Binary, a: Number, b: Number) -> Option<Number> {
    Some(match (f, a, b) {
        (Binary::Add, Number::Constant(a), Number::Constant(b)) => Number::Constant(a.checked_add(b)?),
        (Binary::Sub, Number::Constant(a), Number::Constant(b)) => Number::Constant(a.checked_sub(b)?),
        (Binary::Add, Number::Carried(k, a), Number::Constant(b))
        | (Binary::Add, Number::Constant(b), Number::Carried(k, a)) => Number::Carried(k, a.checked_add(b)?),
        (Binary::Sub, Number::Carried(k, a), Number::Constant(b)) => Number::Carried(k, a.checked_sub(b)?),
        (Binary::Add, Number::Carried(first, a), Number::Carried(second, b)) => {
            Number::Both { first, second, is_minus: false, added: a.checked_add(b)? }
        }
        (Binary::Sub, Number::Carried(first, a), Number::Carried(second, b)) => {
            Number::Both { first, second, is_minus: true, added: a.checked_sub(b)? }
        }
        _ => return None,
    })
}

fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        same => same,
    }
}

/// Number of turns of a loop whose counter begins at `start`, changes by `step`, and that continues while the counter compares so with `limit`.
fn turns(comparison: Comparison, start: i64, step: i64, limit: i64) -> Option<u64> {
    let (start, step, limit) = (i128::from(start), i128::from(step), i128::from(limit));
    let (distance, step) = match comparison {
        Comparison::Lt if step > 0 => (limit - start, step),
        Comparison::Le if step > 0 => (limit - start + 1, step),
        Comparison::Gt if step < 0 => (start - limit, -step),
        Comparison::Ge if step < 0 => (start - limit + 1, -step),
        Comparison::Ne if step != 0 && (limit - start) % step == 0 && (limit - start) / step >= 0 => {
            return u64::try_from((limit - start) / step).ok();
        }
        _ => return None,
    };
    u64::try_from((distance.max(0) + step - 1) / step).ok()
}
