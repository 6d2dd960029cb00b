//! Operations that move elements without changing them.
use super::{Inference, check_dimensions};
use crate::{ArrayType, Op, Type};
use ns_base::{Refusal, refuse};

pub(super) fn result(at: &Inference<'_>) -> Result<Type, Refusal> {
    let dims = match at.op {
        Op::BitcastConvert => return bitcast(at),
        Op::Broadcast { dimensions } => return broadcast(at, dimensions),
        Op::Reshape => return reshape(at),
        Op::Transpose { permutation } => {
            let dims = &at.array(0)?.dims;
            check_dimensions(permutation, dims.len(), "the permutation")?;
            if permutation.len() != dims.len() {
                let (given, rank) = (permutation.len(), dims.len());
                return Err(refuse!("its permutation has {given} of {rank} dimensions"));
            }
            permutation.iter().map(|&p| dims[p as usize]).collect()
        }
        Op::Reverse { dimensions } => {
            check_dimensions(dimensions, at.array(0)?.dims.len(), "it")?;
            at.array(0)?.dims.clone()
        }
        Op::Slice { starts, limits, strides } => slice(&at.array(0)?.dims, starts, limits, strides)?,
        Op::Pad { low, high, interior } => pad(at, low, high, interior)?,
        Op::Concatenate { dimension } => concatenate(at, *dimension as usize)?,
        _ => return Ok(at.declared.clone()),
    };
    Ok(Type::Array(ArrayType::new(at.array(0)?.element, dims)))
}

fn declared<'a>(at: &Inference<'a>) -> Result<&'a ArrayType, Refusal> {
    at.declared.array().ok_or_else(|| refuse!("its result is declared as {}", at.declared))
}

fn bitcast(at: &Inference<'_>) -> Result<Type, Refusal> {
    let (from, to) = (at.array(0)?, declared(at)?);
    let (narrow, wide) = (from.element.bits().min(to.element.bits()), from.element.bits().max(to.element.bits()));
    let mut dims = from.dims.clone();
    if from.element.bits() > to.element.bits() {
        dims.push(wide / narrow);
    } else if from.element.bits() < to.element.bits() && dims.pop() != Some(wide / narrow) {
        return Err(refuse!("the bits of {from} do not fill elements of {}", to.element));
    }
    Ok(Type::Array(ArrayType::new(to.element, dims)))
}

fn broadcast(at: &Inference<'_>, dimensions: &[u32]) -> Result<Type, Refusal> {
    let (from, to) = (at.array(0)?, declared(at)?);
    check_dimensions(dimensions, to.dims.len(), "it")?;
    if dimensions.len() != from.dims.len() {
        return Err(refuse!("it places {} dimensions and {from} has {}", dimensions.len(), from.dims.len()));
    }
    for (&size, &d) in from.dims.iter().zip(dimensions) {
        let wide = to.dims[d as usize];
        if size != wide && size != 1 {
            return Err(refuse!("it repeats {size} elements along a dimension of {wide}"));
        }
    }
    Ok(Type::Array(ArrayType::new(from.element, to.dims.clone())))
}

fn reshape(at: &Inference<'_>) -> Result<Type, Refusal> {
    let (from, to) = (at.array(0)?, declared(at)?);
    if from.elements() != to.elements() || from.elements().is_none() {
        return Err(refuse!("{from} and {to} have different numbers of elements"));
    }
    Ok(Type::Array(ArrayType::new(from.element, to.dims.clone())))
}

fn slice(dims: &[u64], starts: &[u64], limits: &[u64], strides: &[u64]) -> Result<Vec<u64>, Refusal> {
    if starts.len() != dims.len() || limits.len() != dims.len() || strides.len() != dims.len() {
        return Err(refuse!("it slices {} of {} dimensions", starts.len(), dims.len()));
    }
    (0..dims.len())
        .map(|i| {
            let (start, limit, stride) = (starts[i], limits[i], strides[i]);
            if start > limit || limit > dims[i] || stride == 0 {
                return Err(refuse!("it takes [{start}:{limit}:{stride}] of dimension {i}, which has {}", dims[i]));
            }
            Ok((limit - start).div_ceil(stride))
        })
        .collect()
}

fn pad(at: &Inference<'_>, low: &[i64], high: &[i64], interior: &[u64]) -> Result<Vec<u64>, Refusal> {
    let (from, value) = (at.array(0)?, at.array(1)?);
    if !value.dims.is_empty() {
        return Err(refuse!("it pads with {value} and takes one number"));
    }
    let rank = from.dims.len();
    if low.len() != rank || high.len() != rank || interior.len() != rank {
        return Err(refuse!("it pads {} of {rank} dimensions", low.len()));
    }
    (0..rank)
        .map(|i| {
            let size = i128::from(from.dims[i]);
            let between = (size - 1).max(0).saturating_mul(i128::from(interior[i]));
            let padded = between.saturating_add(size + i128::from(low[i]) + i128::from(high[i]));
            u64::try_from(padded).map_err(|_| refuse!("its dimension {i} gets {padded} elements"))
        })
        .collect()
}

fn concatenate(at: &Inference<'_>, dimension: usize) -> Result<Vec<u64>, Refusal> {
    let first = at.array(0)?;
    let mut dims = first.dims.clone();
    if dimension >= dims.len() {
        return Err(refuse!("it joins along dimension {dimension} of {first}"));
    }
    for i in 1..at.operands.len() {
        let next = at.array(i)?;
        let agree = |d: usize| d == dimension || next.dims.get(d) == first.dims.get(d);
        if next.dims.len() != first.dims.len() || next.element != first.element || !(0..first.dims.len()).all(agree) {
            return Err(refuse!("it joins {first} and {next} along dimension {dimension}"));
        }
        dims[dimension] = dims[dimension].saturating_add(next.dims[dimension]);
    }
    Ok(dims)
}
