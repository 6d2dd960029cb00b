//! Integers that are known while a module with open sizes is read: shapes, and what is computed from them.

use super::convert::Frame;
use ns_base::IndexVec;
use ns_base::convert::usize_to_u32;
use ns_program::{Binary, Computation, ElementType, Instruction, InstructionId, Numbers, Op, Type, Unary, Value};

/// Most numbers that are folded: shapes are short.
const MOST_FOLDED: usize = 64;

/// How many broadcasts of one number are followed.
const MOST_BROADCASTS: u32 = 8;

/// The instructions of a computation, finished or not.
pub(super) type Instructions = IndexVec<InstructionId, Instruction>;

/// An argument of a call: its type, and its numbers if they are known.
pub(super) type ArgumentValue = (Type, Option<Value>);

/// What a call gives for an argument.
pub(super) fn argument_value(instructions: &Instructions, operand: InstructionId) -> ArgumentValue {
    (instructions[operand].ty.clone(), value(instructions, operand))
}

/// The integers that an instruction gives, of a constant or of one repeated number.
pub(super) fn numbers(instructions: &Instructions, id: InstructionId) -> Option<Vec<i64>> {
    match constant_behind(instructions, id)? {
        (at, all) if at == id && all.len() <= MOST_FOLDED => Some(all.to_vec()),
        (at, &[one]) if at != id => Some(vec![one; count(&instructions[id].ty)?]),
        _ => None,
    }
}

/// The one number that all elements of an instruction are, however many they are.
pub(super) fn repeated(instructions: &Instructions, id: InstructionId) -> Option<i64> {
    let (_, found) = constant_behind(instructions, id)?;
    let (&first, rest) = found.split_first()?;
    rest.iter().all(|&n| n == first).then_some(first)
}

/// The constant that an instruction is or repeats, and its integers.
fn constant_behind(instructions: &Instructions, id: InstructionId) -> Option<(InstructionId, &[i64])> {
    let mut at = id;
    for _ in 0..MOST_BROADCASTS {
        let instruction = instructions.get(at)?;
        match &instruction.op {
            Op::Constant(value) => {
                let Numbers::Whole(found) = &value.numbers else { return None };
                return Some((at, found));
            }
            Op::Broadcast { .. } => at = *instruction.operands.first()?,
            _ => return None,
        }
    }
    None
}

/// The known integers of an instruction with their type.
pub(super) fn value(instructions: &Instructions, id: InstructionId) -> Option<Value> {
    let ty = instructions.get(id)?.ty.array()?.clone();
    numbers(instructions, id).map(|numbers| Value { ty, numbers: Numbers::Whole(numbers) })
}

/// Elements of a type, if they are few.
fn count(ty: &Type) -> Option<usize> {
    usize::try_from(ty.array()?.elements()?).ok().filter(|&n| n <= MOST_FOLDED)
}

/// What a call gives: its result, with a constant in place of each known number.
pub(super) fn called(frame: &mut Frame<'_>, call: InstructionId, callee: &Computation) -> InstructionId {
    let inner = &callee.instructions;
    let Some(root) = inner.get(callee.root) else { return call };
    if let Some(value) = value(inner, callee.root) {
        return frame.constant(value);
    }
    if root.op == Op::Tuple {
        for (k, &operand) in root.operands.iter().enumerate() {
            if let Some(value) = value(inner, operand) {
                let known = frame.constant(value);
                frame.take_as(call, usize_to_u32(k), known);
            }
        }
    }
    call
}

/// The constant that an operation on known integers gives.
pub(super) fn folded(op: &Op, instructions: &Instructions, operands: &[InstructionId], ty: &Type) -> Option<Value> {
    let array = ty.array().filter(|a| a.element.is_integer() || a.element == ElementType::Pred)?;
    let wanted = count(ty)?;
    let all = |i: usize| operands.get(i).and_then(|&o| numbers(instructions, o));
    // A bound of a clamp and the condition of a choice may be one number for all.
    let each = |i: usize| all(i).map(|n| if let [one] = n[..] { vec![one; wanted] } else { n });
    let from = |i: usize| operands.get(i).and_then(|&o| instructions[o].ty.array());
    let pairs = |f: &dyn Fn(i64, i64) -> Option<i64>| -> Option<Vec<i64>> {
        all(0)?.into_iter().zip(all(1)?).map(|(a, b)| f(a, b)).collect()
    };
    let numbers = match op {
        Op::GetDimensionSize { dimension } => vec![i64::try_from(*from(0)?.dims.get(*dimension as usize)?).ok()?],
        Op::Convert | Op::Reshape => all(0)?,
        Op::Unary(f) => all(0)?.into_iter().map(|a| unary(*f, a, array.element)).collect::<Option<_>>()?,
        Op::Broadcast { dimensions } => match all(0)?[..] {
            [one] => vec![one; wanted],
            _ if dimensions.is_sorted() => all(0)?,
            _ => return None,
        },
        Op::Concatenate { dimension } => {
            let axis = *dimension as usize;
            let rows: u64 = array.dims.get(..axis)?.iter().product();
            let parts = (0..operands.len()).map(all).collect::<Option<Vec<_>>>()?;
            concatenate_rows(&parts, usize::try_from(rows).ok()?)?
        }
        // Sizes that are looked up in a shape.
        Op::Gather(dims) if dims.slice_sizes == [1] && from(0)?.dims.len() == 1 => {
            let (shape, last) = (all(0)?, i64::try_from(from(0)?.dims[0]).ok()? - 1);
            let at = |i: i64| shape.get(usize::try_from(i.min(last).max(0)).ok()?).copied();
            all(1)?.into_iter().map(at).collect::<Option<_>>()?
        }
        Op::Slice { starts, limits, strides } if strides.len() == 1 => {
            let from = all(0)?;
            let (start, limit) = (usize::try_from(starts[0]).ok()?, usize::try_from(limits[0]).ok()?);
            from.get(start..limit)?.iter().step_by(usize::try_from(strides[0]).ok()?.max(1)).copied().collect()
        }
        Op::Binary(f) => pairs(&|a, b| binary(*f, a, b))?,
        Op::Compare(comparison) => pairs(&|a, b| Some(i64::from(comparison.holds(&a, &b))))?,
        Op::Select => {
            let chosen = each(0)?.into_iter().zip(all(1)?.into_iter().zip(all(2)?));
            chosen.map(|(c, (a, b))| if c != 0 { a } else { b }).collect()
        }
        Op::Clamp => {
            let clamped = each(0)?.into_iter().zip(all(1)?.into_iter().zip(each(2)?));
            clamped.map(|(low, (x, high))| x.max(low).min(high)).collect()
        }
        _ => return None,
    };
    let fits = numbers.len() == wanted && numbers.iter().all(|&n| holds(array.element, n));
    fits.then(|| Value { ty: array.clone(), numbers: Numbers::Whole(numbers) })
}

/// Whether numbers of a type can be this number. One that cannot would wrap around: its operation is left as it is.
fn holds(element: ElementType, n: i64) -> bool {
    let bits = element.bits();
    match element {
        ElementType::Pred => n == 0 || n == 1,
        _ if element.is_signed_integer() => bits >= 64 || (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&n),
        _ => n >= 0 && (bits >= 64 || n < 1i64 << bits),
    }
}

/// Arrays joined along a dimension: a row of the first, a row of the second, and so on.
fn concatenate_rows(parts: &[Vec<i64>], rows: usize) -> Option<Vec<i64>> {
    let mut out = Vec::new();
    for row in 0..rows {
        for part in parts {
            let len = part.len().checked_div(rows)?;
            out.extend(part.get(row * len..(row + 1) * len)?);
        }
    }
    Some(out)
}

fn unary(f: Unary, a: i64, element: ElementType) -> Option<i64> {
    match f {
        Unary::Abs => a.checked_abs(),
        Unary::Neg => a.checked_neg(),
        Unary::Sign => Some(a.signum()),
        Unary::Not if element == ElementType::Pred => Some(i64::from(a == 0)),
        Unary::Not if element.is_signed_integer() => Some(!a),
        _ => None,
    }
}

fn binary(f: Binary, a: i64, b: i64) -> Option<i64> {
    match f {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::Max => Some(a.max(b)),
        Binary::Min => Some(a.min(b)),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
        Binary::Pow => a.checked_pow(u32::try_from(b).ok()?),
        _ => None,
    }
}
