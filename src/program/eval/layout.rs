//! Operations that move elements without computing.

use super::pick::{NOWHERE, count, for_each_index, pick, strided, strides, wholes};
use crate::{ArrayType, Numbers, Value, round};
use ns_base::convert::{u64_to_i64, usize_to_f64, usize_to_i64};
use ns_base::{Refusal, refuse};

fn checked(numbers: Numbers, ty: &ArrayType) -> Result<Value, Refusal> {
    let n = count(&ty.dims)?;
    if numbers.len() != n {
        return Err(refuse!("the result is {ty} and {} elements were made", numbers.len()));
    }
    Ok(Value { ty: ty.clone(), numbers })
}

pub(super) fn iota(ty: &ArrayType, dimension: u32) -> Result<Value, Refusal> {
    let at = dimension as usize;
    if at >= ty.dims.len() {
        return Err(refuse!("{ty} has no dimension {at}"));
    }
    let mut steps = vec![0; ty.dims.len()];
    steps[at] = 1;
    let map = strided(&ty.dims, &steps, 0)?;
    let numbers = if ty.element.is_float() {
        Numbers::Real(map.iter().map(|&i| round::real(ty.element, usize_to_f64(i))).collect())
    } else if ty.element.is_complex() {
        Numbers::Complex(map.iter().map(|&i| [usize_to_f64(i), 0.0]).collect())
    } else {
        Numbers::Whole(map.iter().map(|&i| round::whole(ty.element, usize_to_i64(i))).collect())
    };
    checked(numbers, ty)
}

pub(super) fn broadcast(x: &Value, dimensions: &[u32], ty: &ArrayType) -> Result<Value, Refusal> {
    let own = strides(&x.ty.dims);
    let mut steps = vec![0i64; ty.dims.len()];
    for (i, &d) in dimensions.iter().enumerate() {
        let (Some(step), Some(&size)) = (steps.get_mut(d as usize), x.ty.dims.get(i)) else {
            return Err(refuse!("{} cannot be repeated to {ty}: dimension {d}", x.ty));
        };
        if size != 1 {
            *step = own[i];
        }
    }
    checked(pick(&x.numbers, None, &strided(&ty.dims, &steps, 0)?)?, ty)
}

pub(super) fn reshape(x: &Value, ty: &ArrayType) -> Result<Value, Refusal> {
    checked(x.numbers.clone(), ty)
}

pub(super) fn transpose(x: &Value, permutation: &[u32], ty: &ArrayType) -> Result<Value, Refusal> {
    let own = strides(&x.ty.dims);
    let steps: Option<Vec<i64>> = permutation.iter().map(|&p| own.get(p as usize).copied()).collect();
    let steps = steps
        .filter(|s| s.len() == ty.dims.len())
        .ok_or_else(|| refuse!("the permutation names a dimension that does not exist"))?;
    checked(pick(&x.numbers, None, &strided(&ty.dims, &steps, 0)?)?, ty)
}

pub(super) fn reverse(x: &Value, dimensions: &[u32]) -> Result<Value, Refusal> {
    let mut steps = strides(&x.ty.dims);
    let mut offset = 0;
    for &d in dimensions {
        let d = d as usize;
        let size = *x.ty.dims.get(d).ok_or_else(|| refuse!("a dimension to turn around is not there"))?;
        offset += steps[d] * (u64_to_i64(size) - 1).max(0);
        steps[d] = -steps[d];
    }
    checked(pick(&x.numbers, None, &strided(&x.ty.dims, &steps, offset)?)?, &x.ty)
}

pub(super) fn slice(x: &Value, starts: &[u64], by: &[u64], ty: &ArrayType) -> Result<Value, Refusal> {
    let own = strides(&x.ty.dims);
    if starts.len() != own.len() || by.len() != own.len() || ty.dims.len() != own.len() {
        return Err(refuse!("the slice has another number of dimensions than its operand"));
    }
    let offset = own.iter().zip(starts).fold(0, |at: i64, (&s, &b)| at.saturating_add(s.saturating_mul(u64_to_i64(b))));
    let steps: Vec<i64> = own.iter().zip(by).map(|(&s, &b)| s.saturating_mul(u64_to_i64(b))).collect();
    checked(pick(&x.numbers, None, &strided(&ty.dims, &steps, offset)?)?, ty)
}

pub(super) fn pad(x: &Value, fill: &Value, low: &[i64], interior: &[u64], ty: &ArrayType) -> Result<Value, Refusal> {
    let own = strides(&x.ty.dims);
    let rank = x.ty.dims.len();
    if [low.len(), interior.len(), ty.dims.len()] != [rank; 3] {
        return Err(refuse!("the padding has another number of dimensions than its operand"));
    }
    let mut map = Vec::with_capacity(count(&ty.dims)?);
    for_each_index::<Refusal>(&ty.dims, |_, index| {
        let mut at = 0i64;
        for d in 0..rank {
            let from = u64_to_i64(index[d]) - low[d];
            let step = u64_to_i64(interior[d]) + 1;
            if from < 0 || from % step != 0 || from / step >= u64_to_i64(x.ty.dims[d]) {
                map.push(NOWHERE);
                return Ok(());
            }
            at += from / step * own[d];
        }
        map.push(usize::try_from(at).unwrap_or(NOWHERE));
        Ok(())
    })?;
    checked(pick(&x.numbers, Some(fill), &map)?, ty)
}

pub(super) fn concatenate(parts: &[&Value], dimension: u32, ty: &ArrayType) -> Result<Value, Refusal> {
    let d = dimension as usize;
    let first = parts.first().ok_or_else(|| refuse!("there is nothing to join"))?;
    if d >= ty.dims.len() || parts.iter().any(|p| p.ty.dims.len() != ty.dims.len()) {
        return Err(refuse!("arrays cannot be joined along dimension {dimension}"));
    }
    let outer = count(&ty.dims[..d])?;
    let inner = |v: &Value| count(&v.ty.dims[d..]);
    macro_rules! join {
        ($kind:ident) => {{
            let mut all = Vec::with_capacity(count(&ty.dims)?);
            for o in 0..outer {
                for part in parts {
                    let Numbers::$kind(v) = &part.numbers else {
                        return Err(refuse!("arrays of several types are joined"));
                    };
                    let n = inner(part)?;
                    all.extend_from_slice(v.get(o * n..(o + 1) * n).ok_or_else(|| refuse!("an array is too short"))?);
                }
            }
            Numbers::$kind(all)
        }};
    }
    let numbers = match &first.numbers {
        Numbers::Real(_) => join!(Real),
        Numbers::Whole(_) => join!(Whole),
        Numbers::Complex(_) => join!(Complex),
    };
    checked(numbers, ty)
}

/// Where a part begins: at the indices, clamped so that the whole part lies inside.
fn begin(dims: &[u64], sizes: &[u64], indices: &[&Value]) -> Result<Vec<i64>, Refusal> {
    // One array with all indices, or one number for each dimension.
    let given: Vec<i64> = match indices {
        [one] if !one.ty.dims.is_empty() => wholes(one)?.to_vec(),
        many => {
            many.iter().map(|v| wholes(v).map(|w| w.first().copied().unwrap_or(0))).collect::<Result<_, Refusal>>()?
        }
    };
    if given.len() != dims.len() || sizes.len() != dims.len() {
        return Err(refuse!("{} indices are given for {} dimensions", given.len(), dims.len()));
    }
    let inside = |((&at, &dim), &size): ((&i64, &u64), &u64)| at.clamp(0, u64_to_i64(dim.saturating_sub(size)));
    Ok(given.iter().zip(dims).zip(sizes).map(inside).collect())
}

pub(super) fn dynamic_slice(x: &Value, indices: &[&Value], sizes: &[u64], ty: &ArrayType) -> Result<Value, Refusal> {
    let begin = begin(&x.ty.dims, sizes, indices)?;
    let own = strides(&x.ty.dims);
    let offset = own.iter().zip(&begin).map(|(&s, &b)| s * b).sum();
    checked(pick(&x.numbers, None, &strided(sizes, &own, offset)?)?, ty)
}

pub(super) fn dynamic_update_slice(x: &Value, update: &Value, indices: &[&Value]) -> Result<Value, Refusal> {
    let begin = begin(&x.ty.dims, &update.ty.dims, indices)?;
    let own = strides(&x.ty.dims);
    let offset = own.iter().zip(&begin).map(|(&s, &b)| s * b).sum();
    let map = strided(&update.ty.dims, &own, offset)?;
    let mut numbers = x.numbers.clone();
    put(&mut numbers, &update.numbers, &map)?;
    checked(numbers, &x.ty)
}

/// Writes numbers where a map says.
fn put(into: &mut Numbers, from: &Numbers, map: &[usize]) -> Result<(), Refusal> {
    fn go<T: Copy>(into: &mut [T], from: &[T], map: &[usize]) -> Result<(), Refusal> {
        for (&at, &value) in map.iter().zip(from) {
            *into.get_mut(at).ok_or_else(|| refuse!("an index lies outside"))? = value;
        }
        Ok(())
    }
    match (into, from) {
        (Numbers::Real(a), Numbers::Real(b)) => go(a, b, map),
        (Numbers::Whole(a), Numbers::Whole(b)) => go(a, b, map),
        (Numbers::Complex(a), Numbers::Complex(b)) => go(a, b, map),
        _ => Err(refuse!("the part has another element type")),
    }
}
