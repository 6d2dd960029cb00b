//! Slices of modules with open sizes. A slice whose start is computed, by the counter of a loop or from data, has a known size if start and
//! limit differ by known numbers. A gather of one part whose place is known is a slice, and so is one of rows at even distances: JAX writes
//! `x[:n]` and `x[::2]` so if sizes are symbols.

use super::dynamic::FixedOp;
use super::known::{Instructions, numbers, repeated};
use super::syntax::Operation;
use ns_base::convert::usize_to_u32;
use ns_program::{ArrayType, Binary, ComputationBuilder, ElementType, InstructionId, Op, Type, Value};

/// How many operations one number is followed through.
const MOST_STEPS: u32 = 200;

/// A number of a vector, as another number plus a constant; without another number, a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    /// An element of an instruction.
    of: Option<(InstructionId, usize)>,
    plus: i64,
}

/// The dynamic slice for a `real_dynamic_slice` whose start is computed. `None` for any other operation, for a slice with a known start,
/// and for one whose size depends on data.
pub(super) fn moving_slice(
    operation: &Operation<'_>,
    builder: &mut ComputationBuilder,
    operands: &[InstructionId],
) -> Option<FixedOp> {
    let (&[from, starts, limits, strides], true) = (operands, operation.name.ends_with(".real_dynamic_slice")) else {
        return None;
    };
    let known = builder.instructions();
    if numbers(known, starts).is_some() || numbers(known, strides)?.iter().any(|&stride| stride != 1) {
        return None;
    }
    let dims = known[from].ty.array()?.dims.clone();
    let index = known[starts].ty.array()?.element;
    let mut sizes = Vec::with_capacity(dims.len());
    for k in 0..dims.len() {
        let (start, limit) = (term(known, starts, k)?, term(known, limits, k)?);
        let size = limit.plus.checked_sub(start.plus).filter(|_| start.of == limit.of)?;
        sizes.push(u64::try_from(size).ok()?);
    }
    let mut all = vec![from];
    for (k, (&dim, &size)) in dims.iter().zip(&sizes).enumerate() {
        let last = i64::try_from(dim.checked_sub(size)?).ok()?;
        all.push(start(builder, starts, k, last, index));
    }
    Some((Op::DynamicSlice { sizes }, all, None))
}

/// The slice for a gather whose places are known: one part, or rows at even distances.
pub(super) fn known_places(
    builder: &mut ComputationBuilder,
    name: &str,
    op: &Op,
    operands: &[InstructionId],
    ty: &Type,
) -> Option<InstructionId> {
    known_part(builder, name, op, operands, ty).or_else(|| even_rows(builder, name, op, operands, ty))
}

/// The slice for a gather of rows at even distances, if the rows stay where they are among the dimensions.
fn even_rows(
    builder: &mut ComputationBuilder,
    name: &str,
    op: &Op,
    operands: &[InstructionId],
    ty: &Type,
) -> Option<InstructionId> {
    let (Op::Gather(dims), &[from, indices]) = (op, operands) else { return None };
    let (&[along], &[dropped], []) =
        (&dims.start_index_map[..], &dims.collapsed_slice_dims[..], &dims.operand_batching_dims[..])
    else {
        return None;
    };
    let known = builder.instructions();
    let (array, result) = (known[from].ty.array()?.clone(), ty.array()?);
    let axis = along as usize;
    let rows = *result.dims.get(axis)?;
    let stays = along == dropped && !dims.offset_dims.contains(&along) && result.dims.len() == array.dims.len();
    if !stays || known[indices].ty.array()?.elements()? != rows || rows == 0 {
        return None;
    }
    let (first, step) = progression(known, indices)?;
    let (first, step) = (u64::try_from(first).ok()?, u64::try_from(step).ok().filter(|&step| step > 0)?);
    let last = step.checked_mul(rows - 1)?.checked_add(first).filter(|last| *last < array.dims[axis])?;
    let (mut starts, mut limits, mut strides) =
        (vec![0; array.dims.len()], dims.slice_sizes.clone(), vec![1; array.dims.len()]);
    (starts[axis], *limits.get_mut(axis)?, strides[axis]) = (first, last + 1, step);
    let fits = limits.len() == array.dims.len() && limits.iter().zip(&array.dims).all(|(limit, dim)| limit <= dim);
    let others = limits.iter().zip(&result.dims).enumerate().all(|(d, (limit, dim))| d == axis || limit == dim);
    (fits && others).then(|| builder.push(name, Op::Slice { starts, limits, strides }, vec![from], ty.clone()))
}

/// The first of numbers that grow evenly, and their distance.
fn progression(known: &Instructions, mut id: InstructionId) -> Option<(i64, i64)> {
    let count = known.get(id)?.ty.array()?.elements()?;
    let (mut step, mut first) = (1i64, 0i64);
    for _ in 0..MOST_STEPS {
        let instruction = known.get(id)?;
        let array = instruction.ty.array()?;
        if array.elements()? != count {
            return None;
        }
        let operands = &instruction.operands[..];
        let number = |i: usize| operands.get(i).and_then(|&o| repeated(known, o));
        match (&instruction.op, operands) {
            (Op::Iota { .. }, _) if array.dims.len() == 1 => return Some((first, step)),
            (Op::Convert | Op::Reshape, &[of]) => id = of,
            (Op::Broadcast { dimensions }, &[of]) if dimensions.is_sorted() => id = of,
            (Op::Binary(f), &[a, b]) => match (f, number(0), number(1)) {
                (Binary::Mul, Some(n), _) => (step, id) = (step.checked_mul(n)?, b),
                (Binary::Mul, _, Some(n)) => (step, id) = (step.checked_mul(n)?, a),
                (Binary::Add, Some(n), _) => (first, id) = (first.checked_add(step.checked_mul(n)?)?, b),
                (Binary::Add, _, Some(n)) => (first, id) = (first.checked_add(step.checked_mul(n)?)?, a),
                (Binary::Sub, _, Some(n)) => (first, id) = (first.checked_sub(step.checked_mul(n)?)?, a),
                _ => return None,
            },
            _ => return None,
        }
    }
    None
}

/// The slice for a gather of one part at a known place, without the dimensions that the gather drops.
fn known_part(
    builder: &mut ComputationBuilder,
    name: &str,
    op: &Op,
    operands: &[InstructionId],
    ty: &Type,
) -> Option<InstructionId> {
    let (Op::Gather(dims), &[from, indices]) = (op, operands) else { return None };
    let known = builder.instructions();
    let index = numbers(known, indices).filter(|index| index.len() == dims.start_index_map.len())?;
    let array = known[from].ty.array()?.clone();
    let mut starts = vec![0; array.dims.len()];
    for (&d, &at) in dims.start_index_map.iter().zip(&index) {
        let last = array.dims.get(d as usize)?.checked_sub(*dims.slice_sizes.get(d as usize)?)?;
        *starts.get_mut(d as usize)? = u64::try_from(at).unwrap_or(0).min(last);
    }
    let limits: Vec<u64> = starts.iter().zip(&dims.slice_sizes).map(|(start, size)| start + size).collect();
    let fits = limits.len() == array.dims.len() && limits.iter().zip(&array.dims).all(|(limit, dim)| limit <= dim);
    let part = Type::Array(ArrayType::new(array.element, dims.slice_sizes.clone()));
    if !fits || ty.array()?.elements() != part.array()?.elements() {
        return None;
    }
    let slice = Op::Slice { strides: vec![1; starts.len()], starts, limits };
    let slice = builder.push(name, slice, vec![from], part.clone());
    Some(if part == *ty { slice } else { builder.push(name, Op::Reshape, vec![slice], ty.clone()) })
}

/// Element `k` of a vector.
fn term(known: &Instructions, id: InstructionId, k: usize) -> Option<Term> {
    let mut steps = MOST_STEPS;
    followed(known, id, k, &mut steps)
}

fn followed(known: &Instructions, id: InstructionId, k: usize, steps: &mut u32) -> Option<Term> {
    *steps = steps.checked_sub(1)?;
    let instruction = known.get(id)?;
    if let Some(numbers) = numbers(known, id) {
        // One number may stand for all.
        let &n = numbers.get(k).or(if numbers.len() == 1 { numbers.first() } else { None })?;
        return Some(Term { of: None, plus: n });
    }
    let operand = |i: usize| instruction.operands.get(i).copied();
    match &instruction.op {
        Op::Reshape => followed(known, operand(0)?, k, steps),
        Op::Concatenate { dimension: 0 } => {
            let (part, k) = part_of(known, &instruction.operands, k)?;
            followed(known, part, k, steps)
        }
        Op::Binary(f @ (Binary::Add | Binary::Sub)) => {
            let (a, b) = (followed(known, operand(0)?, k, steps)?, followed(known, operand(1)?, k, steps)?);
            match (f, a.of, b.of) {
                (Binary::Add, _, None) => Some(Term { of: a.of, plus: a.plus.checked_add(b.plus)? }),
                (Binary::Add, None, _) => Some(Term { of: b.of, plus: a.plus.checked_add(b.plus)? }),
                (Binary::Sub, _, None) => Some(Term { of: a.of, plus: a.plus.checked_sub(b.plus)? }),
                _ => Some(Term { of: Some((id, k)), plus: 0 }),
            }
        }
        _ => Some(Term { of: Some((id, k)), plus: 0 }),
    }
}

/// The operand of a concatenation of vectors that holds element `k`, and its place in that operand.
fn part_of(known: &Instructions, operands: &[InstructionId], mut k: usize) -> Option<(InstructionId, usize)> {
    for &operand in operands {
        let len = usize::try_from(known.get(operand)?.ty.array()?.elements()?).ok()?;
        if k < len {
            return Some((operand, k));
        }
        k -= len;
    }
    None
}

/// Element `k` of the start of a slice as a single number. A clamp to what a dynamic slice itself clamps to, 0 to `last`, is left out.
fn start(
    builder: &mut ComputationBuilder,
    starts: InstructionId,
    k: usize,
    last: i64,
    index: ElementType,
) -> InstructionId {
    let (id, at) = plain(builder.instructions(), starts, k, last);
    let one = Type::Array(ArrayType::new(index, []));
    let known = numbers(builder.instructions(), id);
    if let Some(&n) = known.as_ref().and_then(|n| n.get(at)) {
        return builder.splat("start", Value::whole(index, n), &[]);
    }
    let Some(dims) = builder.ty(id).array().map(|a| a.dims.clone()) else { return id };
    match dims[..] {
        [] => id,
        [1] => builder.push("start", Op::Reshape, vec![id], one),
        _ => {
            let at = u64::from(usize_to_u32(at));
            let slice = Op::Slice { starts: vec![at], limits: vec![at + 1], strides: vec![1] };
            let part = builder.push("start", slice, vec![id], Type::Array(ArrayType::new(index, [1])));
            builder.push("start", Op::Reshape, vec![part], one)
        }
    }
}

/// The vector or the single number that element `k` comes from, and its place there.
fn plain(known: &Instructions, mut id: InstructionId, mut k: usize, last: i64) -> (InstructionId, usize) {
    for _ in 0..MOST_STEPS {
        let instruction = &known[id];
        let is = |operand: usize, n: i64| {
            let bound = instruction.operands.get(operand).and_then(|&o| term(known, o, k));
            bound == Some(Term { of: None, plus: n })
        };
        match (&instruction.op, &instruction.operands[..]) {
            (Op::Clamp, &[_, x, _]) if is(0, 0) && is(2, last) => id = x,
            (Op::Reshape, &[of]) if known[of].ty.array().is_some_and(|a| a.dims.len() <= 1) => id = of,
            (Op::Concatenate { .. }, parts) => match part_of(known, parts, k) {
                Some((part, at)) => (id, k) = (part, at),
                None => return (id, k),
            },
            _ => return (id, k),
        }
    }
    (id, k)
}
