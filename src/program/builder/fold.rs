//! Results of operations on constants: sizes and indexes that a model computes from its own shapes.
//!
//! Only operations that move small arrays of numbers or compute with them, as a graph does with the sizes of its arrays.

use super::super::round;
use super::super::{ArrayType, Binary, Comparison, ElementType, GatherDims, Numbers, Op, Unary, Value};
use ns_base::convert::{self, f64_to_f32, f64_to_i64, i64_to_f64, i64_to_u64, u64_to_i64, usize_to_u32};

/// Most elements of an integer array that is computed here; attention masks are larger and stay operations.
const MOST_WHOLE: u64 = 1024;

/// Most elements of an array of other numbers that is computed here: factors and scales. Tables of sines stay operations.
const MOST_REAL: u64 = 64;

/// Most elements of one repeated number that become a constant: a shape, not an array of the model.
const MOST_REPEATED: u64 = 64;

/// The result of an operation on known operands; `None` if the operation is not computed here.
pub(super) fn fold(op: &Op, operands: &[&Value], ty: &ArrayType) -> Option<Value> {
    let is_float = !ty.element.is_integer() && ty.element != ElementType::Pred;
    let most = match op {
        Op::Broadcast { .. } if operands.first()?.numbers.len() == 1 && is_float => 1,
        Op::Broadcast { .. } if operands.first()?.numbers.len() == 1 => MOST_REPEATED,
        _ if is_float => MOST_REAL,
        _ => MOST_WHOLE,
    };
    if ty.elements()? > most || operands.iter().any(|v| v.ty.elements().is_none_or(|n| n > 4 * MOST_WHOLE)) {
        return None;
    }
    let numbers = match (op, operands) {
        (Op::Iota { dimension }, []) => iota(ty, *dimension as usize)?,
        (Op::Unary(op), [x]) => unary(*op, x, ty)?,
        (Op::Binary(op), [x, y]) => binary(*op, x, y, ty)?,
        (Op::Compare(how), [x, y]) => compare(*how, x, y)?,
        (Op::Select, [p, x, y]) => select(p, x, y)?,
        (Op::Convert, [x]) => convert(&x.numbers, ty)?,
        (Op::Reshape, [x]) => x.numbers.clone(),
        (Op::Concatenate { dimension }, parts) => concatenate(parts, *dimension as usize, ty)?,
        (op, [x]) => moved(op, x, ty)?,
        (Op::Gather(dims), [x, at]) => gather(x, at, dims, ty)?,
        _ => return None,
    };
    (numbers.len() as u64 == ty.elements()?).then_some(Value { ty: ty.clone(), numbers: rounded(numbers, ty) })
}

/// Rounds numbers to what their type can hold.
fn rounded(numbers: Numbers, ty: &ArrayType) -> Numbers {
    match numbers {
        Numbers::Whole(v) => Numbers::Whole(v.into_iter().map(|n| round::whole(ty.element, n)).collect()),
        Numbers::Real(v) => Numbers::Real(match ty.element {
            ElementType::F32 => v.into_iter().map(|n| f64::from(f64_to_f32(n))).collect(),
            ElementType::F16 => v.into_iter().map(|n| half::f16::from_f64(n).to_f64()).collect(),
            ElementType::Bf16 => v.into_iter().map(|n| half::bf16::from_f64(n).to_f64()).collect(),
            _ => v,
        }),
        other @ Numbers::Complex(_) => other,
    }
}

/// Every index of an array, in row-major order.
fn indexes(dims: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let count = dims.iter().product::<u64>();
    let dims = dims.to_vec();
    (0..count).map(move |mut n| {
        let mut at = vec![0; dims.len()];
        for (place, &d) in at.iter_mut().zip(&dims).rev() {
            *place = n % d;
            n /= d;
        }
        at
    })
}

/// Position of an index in row-major order; `None` if it is outside.
fn position(at: &[u64], dims: &[u64]) -> Option<usize> {
    let mut n = 0u64;
    for (&i, &d) in at.iter().zip(dims) {
        if i >= d {
            return None;
        }
        n = n.checked_mul(d)?.checked_add(i)?;
    }
    usize::try_from(n).ok()
}

/// Elements of an array by position.
fn take(numbers: &Numbers, at: impl Iterator<Item = Option<usize>>) -> Option<Numbers> {
    fn pick<T: Copy>(v: &[T], at: impl Iterator<Item = Option<usize>>) -> Option<Vec<T>> {
        at.map(|i| v.get(i?).copied()).collect()
    }
    Some(match numbers {
        Numbers::Real(v) => Numbers::Real(pick(v, at)?),
        Numbers::Whole(v) => Numbers::Whole(pick(v, at)?),
        Numbers::Complex(v) => Numbers::Complex(pick(v, at)?),
    })
}

fn iota(ty: &ArrayType, dimension: usize) -> Option<Numbers> {
    let along = indexes(&ty.dims).map(|at| at.get(dimension).copied());
    if ty.element.is_float() {
        return Some(Numbers::Real(along.map(|n| n.map(convert::u64_to_f64)).collect::<Option<_>>()?));
    }
    Some(Numbers::Whole(along.map(|n| n.map(u64_to_i64)).collect::<Option<_>>()?))
}

fn unary(op: Unary, x: &Value, ty: &ArrayType) -> Option<Numbers> {
    Some(match &x.numbers {
        Numbers::Whole(v) => {
            let one: fn(i64) -> i64 = match op {
                Unary::Neg => i64::wrapping_neg,
                Unary::Abs => i64::wrapping_abs,
                Unary::Sign => i64::signum,
                Unary::Not if ty.element == ElementType::Pred => |n| i64::from(n == 0),
                Unary::Not => |n| !n,
                _ => return None,
            };
            Numbers::Whole(v.iter().map(|&n| one(n)).collect())
        }
        Numbers::Real(v) => {
            let one: fn(f64) -> f64 = match op {
                Unary::Neg => |n| -n,
                Unary::Abs => f64::abs,
                Unary::Floor => f64::floor,
                Unary::Ceil => f64::ceil,
                Unary::RoundHalfEven => f64::round_ties_even,
                Unary::Sqrt => f64::sqrt,
                Unary::Rsqrt => |n| 1.0 / n.sqrt(),
                Unary::Exp => libm::exp,
                Unary::Log => libm::log,
                Unary::Cos => libm::cos,
                Unary::Sin => libm::sin,
                Unary::Square => |n| n * n,
                _ => return None,
            };
            Numbers::Real(v.iter().map(|&n| one(n)).collect())
        }
        Numbers::Complex(_) => return None,
    })
}

fn binary(op: Binary, x: &Value, y: &Value, ty: &ArrayType) -> Option<Numbers> {
    match (&x.numbers, &y.numbers) {
        (Numbers::Whole(a), Numbers::Whole(b)) => {
            let unsigned = ty.element == ElementType::U64;
            let one = |a: i64, b: i64| {
                Some(match op {
                    Binary::Add => a.wrapping_add(b),
                    Binary::Sub => a.wrapping_sub(b),
                    Binary::Mul => a.wrapping_mul(b),
                    Binary::Div if !unsigned => a.checked_div(b)?,
                    Binary::Rem if !unsigned => a.checked_rem(b)?,
                    Binary::Max if !unsigned => a.max(b),
                    Binary::Min if !unsigned => a.min(b),
                    Binary::Pow => a.checked_pow(u32::try_from(b).ok()?)?,
                    Binary::And => a & b,
                    Binary::Or => a | b,
                    Binary::Xor => a ^ b,
                    _ => return None,
                })
            };
            Some(Numbers::Whole(a.iter().zip(b).map(|(&a, &b)| one(a, b)).collect::<Option<_>>()?))
        }
        (Numbers::Real(a), Numbers::Real(b)) => {
            let one: fn(f64, f64) -> f64 = match op {
                Binary::Add => |a, b| a + b,
                Binary::Sub => |a, b| a - b,
                Binary::Mul => |a, b| a * b,
                Binary::Div => |a, b| a / b,
                Binary::Max => f64::max,
                Binary::Min => f64::min,
                Binary::Pow => libm::pow,
                _ => return None,
            };
            Some(Numbers::Real(a.iter().zip(b).map(|(&a, &b)| one(a, b)).collect()))
        }
        _ => None,
    }
}

fn compare(how: Comparison, x: &Value, y: &Value) -> Option<Numbers> {
    fn each<T: PartialOrd>(how: Comparison, a: &[T], b: &[T]) -> Numbers {
        Numbers::Whole(a.iter().zip(b).map(|(a, b)| i64::from(how.holds(a, b))).collect())
    }
    match (&x.numbers, &y.numbers) {
        (Numbers::Whole(a), Numbers::Whole(b)) => Some(each(how, a, b)),
        (Numbers::Real(a), Numbers::Real(b)) => Some(each(how, a, b)),
        _ => None,
    }
}

fn select(p: &Value, x: &Value, y: &Value) -> Option<Numbers> {
    let Numbers::Whole(p) = &p.numbers else { return None };
    let is_first = |i: usize| p.get(if p.len() == 1 { 0 } else { i }).is_some_and(|&n| n != 0);
    match (&x.numbers, &y.numbers) {
        (Numbers::Whole(a), Numbers::Whole(b)) if a.len() == b.len() => {
            Some(Numbers::Whole((0..a.len()).map(|i| if is_first(i) { a[i] } else { b[i] }).collect()))
        }
        (Numbers::Real(a), Numbers::Real(b)) if a.len() == b.len() => {
            Some(Numbers::Real((0..a.len()).map(|i| if is_first(i) { a[i] } else { b[i] }).collect()))
        }
        _ => None,
    }
}

fn convert(numbers: &Numbers, ty: &ArrayType) -> Option<Numbers> {
    Some(match numbers {
        Numbers::Whole(v) if ty.element.is_float() => Numbers::Real(v.iter().map(|&n| i64_to_f64(n)).collect()),
        Numbers::Whole(v) => Numbers::Whole(v.clone()),
        Numbers::Real(v) if ty.element.is_float() => Numbers::Real(v.clone()),
        Numbers::Real(v) if ty.element == ElementType::Pred => {
            Numbers::Whole(v.iter().map(|&n| i64::from(n != 0.0)).collect())
        }
        Numbers::Real(v) if ty.element.is_integer() => Numbers::Whole(v.iter().map(|&n| f64_to_i64(n)).collect()),
        _ => return None,
    })
}

fn concatenate(parts: &[&Value], dimension: usize, ty: &ArrayType) -> Option<Numbers> {
    let mut whole = Vec::new();
    let mut real = Vec::new();
    for at in indexes(&ty.dims) {
        let mut along = *at.get(dimension)?;
        let part = parts.iter().find(|part| {
            let size = part.ty.dims.get(dimension).copied().unwrap_or(0);
            let is_here = along < size;
            if !is_here {
                along -= size;
            }
            is_here
        })?;
        let mut inside = at.clone();
        inside[dimension] = along;
        let n = position(&inside, &part.ty.dims)?;
        match &part.numbers {
            Numbers::Whole(v) => whole.push(*v.get(n)?),
            Numbers::Real(v) => real.push(*v.get(n)?),
            Numbers::Complex(_) => return None,
        }
    }
    Some(if ty.element.is_float() { Numbers::Real(real) } else { Numbers::Whole(whole) })
}

/// Operations with one operand that move its elements.
fn moved(op: &Op, x: &Value, ty: &ArrayType) -> Option<Numbers> {
    let from = |at: &[u64]| -> Option<Vec<u64>> {
        match op {
            Op::Broadcast { dimensions } => dimensions
                .iter()
                .zip(&x.ty.dims)
                .map(|(&to, &d)| at.get(to as usize).map(|&i| if d == 1 { 0 } else { i }))
                .collect(),
            Op::Transpose { permutation } => {
                let mut from = vec![0; at.len()];
                for (&i, &p) in at.iter().zip(permutation) {
                    *from.get_mut(p as usize)? = i;
                }
                Some(from)
            }
            Op::Reverse { dimensions } => Some(
                at.iter()
                    .zip(&x.ty.dims)
                    .enumerate()
                    .map(|(n, (&i, &d))| if dimensions.contains(&usize_to_u32(n)) { d - 1 - i } else { i })
                    .collect(),
            ),
            Op::Slice { starts, strides, .. } => {
                Some(at.iter().zip(starts.iter().zip(strides)).map(|(&i, (&start, &step))| start + i * step).collect())
            }
            _ => None,
        }
    };
    let positions = indexes(&ty.dims).map(|at| position(&from(&at)?, &x.ty.dims));
    take(&x.numbers, positions)
}

/// A gather without batch dimensions.
fn gather(x: &Value, at: &Value, dims: &GatherDims, ty: &ArrayType) -> Option<Numbers> {
    let Numbers::Whole(indices) = &at.numbers else { return None };
    if !dims.operand_batching_dims.is_empty() {
        return None;
    }
    let kept: Vec<usize> =
        (0..x.ty.dims.len()).filter(|&d| !dims.collapsed_slice_dims.contains(&usize_to_u32(d))).collect();
    let is_offset = |n: usize| dims.offset_dims.contains(&usize_to_u32(n));
    let from = |out: &[u64]| -> Option<usize> {
        let batch: Vec<u64> = out.iter().enumerate().filter(|(n, _)| !is_offset(*n)).map(|(_, &i)| i).collect();
        let mut source = vec![0u64; x.ty.dims.len()];
        for (&offset, &d) in dims.offset_dims.iter().zip(&kept) {
            source[d] = *out.get(offset as usize)?;
        }
        for (k, &d) in dims.start_index_map.iter().enumerate() {
            let d = d as usize;
            let mut place = batch.clone();
            if (dims.index_vector_dim as usize) < at.ty.dims.len() {
                place.insert((dims.index_vector_dim as usize).min(place.len()), k as u64);
            }
            let start = *indices.get(position(&place, &at.ty.dims)?)?;
            let last = i64::try_from(x.ty.dims.get(d)?.checked_sub(*dims.slice_sizes.get(d)?)?).ok()?;
            source[d] += i64_to_u64(start.clamp(0, last));
        }
        position(&source, &x.ty.dims)
    };
    take(&x.numbers, indexes(&ty.dims).map(|out| from(&out)))
}

/// The result of a reduction of known numbers, with the initial value `first`.
pub(super) fn fold_reduction(with: Binary, x: &Value, first: &Value, dims: &[u32], ty: &ArrayType) -> Option<Value> {
    let count = x.ty.elements().filter(|&n| n <= MOST_WHOLE)?;
    if count > MOST_REAL && x.ty.element.is_float() {
        return None;
    }
    let one = ArrayType::new(ty.element, []);
    let start = take(&first.numbers, std::iter::once(Some(0)))?;
    let places = usize::try_from(ty.elements()?).ok()?;
    let mut sums = vec![Value { ty: one.clone(), numbers: start }; places];
    for (n, at) in indexes(&x.ty.dims).enumerate() {
        let kept: Vec<u64> =
            at.iter().enumerate().filter(|(d, _)| !dims.contains(&usize_to_u32(*d))).map(|(_, &i)| i).collect();
        let sum = sums.get_mut(position(&kept, &ty.dims)?)?;
        let number = Value { ty: one.clone(), numbers: take(&x.numbers, std::iter::once(Some(n)))? };
        let numbers = rounded(binary(with, sum, &number, &one)?, &one);
        *sum = Value { ty: one.clone(), numbers };
    }
    let numbers = match ty.element {
        e if e.is_float() => Numbers::Real(
            sums.iter()
                .map(|s| if let Numbers::Real(v) = &s.numbers { v.first().copied() } else { None })
                .collect::<Option<_>>()?,
        ),
        _ => Numbers::Whole(
            sums.iter()
                .map(|s| if let Numbers::Whole(v) = &s.numbers { v.first().copied() } else { None })
                .collect::<Option<_>>()?,
        ),
    };
    Some(Value { ty: ty.clone(), numbers })
}

#[cfg(test)]
mod tests {
    use super::super::super::Binary;
    use super::super::Builder;
    use super::*;

    fn known(b: &Builder, id: super::super::super::InstructionId) -> Option<Numbers> {
        match &b.instruction(id)?.op {
            Op::Constant(value) => Some(value.numbers.clone()),
            _ => None,
        }
    }

    #[test]
    fn what_a_graph_does_to_its_sizes() {
        let mut b = Builder::new();
        b.fold_constants(true);
        let sizes = b.whole_row(ElementType::S64, &[2, 3, 4]).unwrap();
        let tail = b.slice_dim(sizes, 0, 1, 3, 1).unwrap();
        let head = b.whole_row(ElementType::S64, &[-1]).unwrap();
        let all = b.concatenate(&[head, tail], 0).unwrap();
        let negative = b.compare_number(Comparison::Lt, all, 0.0).unwrap();
        let ones = b.full(ElementType::S64, &[3], 1.0).unwrap();
        let chosen = b.select(negative, ones, all).unwrap();
        assert_eq!(known(&b, chosen), Some(Numbers::Whole(vec![1, 3, 4])));
        let product = b.reduce(Binary::Mul, chosen, &[0], false).unwrap();
        assert_eq!(known(&b, product), Some(Numbers::Whole(vec![12])));
        let at = b.whole(ElementType::S64, -1).unwrap();
        let last = b.take(sizes, at, super::super::RowGather { dimension: 0, wraps: true }).unwrap();
        assert_eq!(known(&b, last), Some(Numbers::Whole(vec![4])));
    }

    #[test]
    fn arrays_of_the_model_stay_operations() {
        let mut b = Builder::new();
        b.fold_constants(true);
        let ones = b.full(ElementType::F32, &[2, 16], 1.0).unwrap();
        assert_eq!(known(&b, ones), None);
        let large = b.iota(ElementType::S32, &[100, 100], 0).unwrap();
        assert_eq!(known(&b, large), None);
    }
}
