//! Reductions, sorts, normalisations, tuples and calls.

use super::error::{CalledError, Caller, InferError, Pair, Part, Takes};
use super::{Inference, Signature, check_dimensions};
use crate::program::{ArrayType, ElementType, Op, Type};
use ns_base::convert::narrow;

pub(super) fn result(at: &Inference<'_>) -> Result<Type, InferError> {
    match at.op {
        Op::Reduce { dimensions } => reduce(at, dimensions),
        Op::Sort { dimension, .. } => sort(at, *dimension),
        Op::TopK { k, .. } => top_k(at, *k),
        Op::BatchNormInference { feature, .. } => batch_norm(at, *feature, 1..5).map(|_| at.operands[0].clone()),
        Op::BatchNormTraining { feature, .. } => {
            let channel = batch_norm(at, *feature, 1..3)?;
            Ok(Type::Tuple(vec![at.operands[0].clone(), channel.clone(), channel]))
        }
        Op::BatchNormGrad { feature, .. } => {
            let channel = batch_norm(at, *feature, 1..4)?;
            Ok(Type::Tuple(vec![at.operands[0].clone(), channel.clone(), channel]))
        }
        Op::Tuple => Ok(Type::Tuple(at.operands.iter().map(|t| (*t).clone()).collect())),
        Op::GetTupleElement(i) => match at.operands[0] {
            Type::Tuple(parts) if (*i as usize) < parts.len() => Ok(parts[*i as usize].clone()),
            other => Err(InferError::NoSuchPart { part: Part::Element(*i), of: other.clone() }),
        },
        Op::Call => call(at),
        Op::While => loops(at),
        Op::Conditional => conditional(at),
        Op::Map => map(at),
        Op::GetDimensionSize { dimension } => {
            check_dimensions(&[*dimension], at.array(0)?.dims.len(), "it")?;
            Ok(Type::Array(ArrayType::new(ElementType::S32, [])))
        }
        _ => Ok(at.declared.clone()),
    }
}

fn called<'a>(at: &Inference<'a>, n: usize) -> Result<&'a [&'a Signature], InferError> {
    if at.called.len() != n {
        return Err(CalledError::Count { given: at.called.len(), takes: n }.into());
    }
    Ok(at.called)
}

fn reduce(at: &Inference<'_>, dimensions: &[u32]) -> Result<Type, InferError> {
    let n = at.operands.len() / 2;
    if !at.operands.len().is_multiple_of(2) {
        return Err(InferError::Operands { given: at.operands.len(), takes: Takes::FirstValues });
    }
    let combine = called(at, 1)?[0];
    check_count(Caller::Reduce, n, 2 * n, combine)?;
    let mut types = Vec::new();
    for i in 0..n {
        let array = at.array(i)?;
        check_dimensions(dimensions, array.dims.len(), "it")?;
        if array.dims != at.array(0)?.dims || !at.array(n + i)?.dims.is_empty() {
            return Err(InferError::unlike(Pair::FirstValue, array, at.array(n + i)?));
        }
        let kept = array.dims.iter().enumerate().filter(|(d, _)| !dimensions.contains(&narrow(*d)));
        let result = if n == 1 { &combine.result } else { part(&combine.result, i)? };
        let element = result.array().map_or(array.element, |a| a.element);
        types.push(Type::Array(ArrayType::new(element, kept.map(|(_, &d)| d).collect::<Vec<_>>())));
    }
    Ok(if n == 1 { types[0].clone() } else { Type::Tuple(types) })
}

fn part(ty: &Type, i: usize) -> Result<&Type, InferError> {
    match ty {
        Type::Tuple(parts) if i < parts.len() => Ok(&parts[i]),
        other => Err(CalledError::Result { computation: "computation", ty: other.clone() }.into()),
    }
}

fn sort(at: &Inference<'_>, dimension: u32) -> Result<Type, InferError> {
    let n = at.operands.len();
    let compare = called(at, 1)?[0];
    check_count(Caller::Sort, n, 2 * n, compare)?;
    for i in 0..n {
        check_dimensions(&[dimension], at.array(i)?.dims.len(), "it")?;
        if at.array(i)?.dims != at.array(0)?.dims {
            return Err(InferError::unlike(Pair::SortedAlong, at.array(i)?, at.array(0)?));
        }
    }
    Ok(if n == 1 { at.operands[0].clone() } else { Type::Tuple(at.operands.iter().map(|t| (*t).clone()).collect()) })
}

fn top_k(at: &Inference<'_>, k: u64) -> Result<Type, InferError> {
    let array = at.array(0)?;
    let mut dims = array.dims.clone();
    match dims.last_mut() {
        Some(last) if k <= *last => *last = k,
        _ => return Err(InferError::no_such(Part::Largest(k), array)),
    }
    let index = ArrayType::new(ElementType::S32, dims.clone());
    Ok(Type::Tuple(vec![Type::Array(ArrayType::new(array.element, dims)), Type::Array(index)]))
}

/// The type of an array with one value for each channel.
fn batch_norm(at: &Inference<'_>, feature: u32, channels: std::ops::Range<usize>) -> Result<Type, InferError> {
    let x = at.array(0)?;
    check_dimensions(&[feature], x.dims.len(), "feature_index")?;
    for i in channels {
        let channel = at.array(i)?;
        let channels = x.dims[feature as usize];
        if channel.dims != [channels] {
            return Err(InferError::Channels { operand: i, channel: channel.clone(), array: x.clone(), channels });
        }
    }
    Ok(Type::Array(ArrayType::new(at.array(1)?.element, [x.dims[feature as usize]])))
}

/// Checks that a computation has the parameters that its caller passes.
fn check_count(by: Caller, values: usize, wanted: usize, signature: &Signature) -> Result<(), CalledError> {
    let parameters = signature.parameters.len();
    if parameters == wanted { Ok(()) } else { Err(CalledError::Parameters { by, values, parameters }) }
}

fn check_arguments(signature: &Signature, arguments: &[&Type]) -> Result<(), CalledError> {
    check_count(Caller::Call, arguments.len(), arguments.len(), signature)?;
    for (i, (takes, given)) in signature.parameters.iter().zip(arguments).enumerate() {
        if takes != *given {
            let (given, takes) = ((*given).clone(), takes.clone());
            return Err(CalledError::Argument { given, parameter: i, takes });
        }
    }
    Ok(())
}

fn call(at: &Inference<'_>) -> Result<Type, InferError> {
    let callee = called(at, 1)?[0];
    check_arguments(callee, at.operands)?;
    Ok(callee.result.clone())
}

fn loops(at: &Inference<'_>) -> Result<Type, InferError> {
    let [condition, body] = called(at, 2)? else { return Ok(at.declared.clone()) };
    check_arguments(condition, at.operands)?;
    check_arguments(body, at.operands)?;
    if body.result != *at.operands[0] {
        let (gives, begins) = (body.result.clone(), at.operands[0].clone());
        return Err(CalledError::Body { gives, begins }.into());
    }
    if condition.result != Type::Array(ArrayType::new(ElementType::Pred, [])) {
        return Err(CalledError::Result { computation: "condition", ty: condition.result.clone() }.into());
    }
    Ok(body.result.clone())
}

fn conditional(at: &Inference<'_>) -> Result<Type, InferError> {
    let branches = at.called.len();
    if branches == 0 || branches + 1 != at.operands.len() {
        return Err(CalledError::BranchOperands { branches, operands: at.operands.len() }.into());
    }
    for (branch, argument) in at.called.iter().zip(&at.operands[1..]) {
        check_arguments(branch, std::slice::from_ref(argument))?;
        if branch.result != at.called[0].result {
            let (first, other) = (at.called[0].result.clone(), branch.result.clone());
            return Err(CalledError::Branches { first, other }.into());
        }
    }
    Ok(at.called[0].result.clone())
}

fn map(at: &Inference<'_>) -> Result<Type, InferError> {
    let function = called(at, 1)?[0];
    let element = function.result.array().map(|a| a.element).ok_or(CalledError::NoNumber)?;
    check_count(Caller::Map, at.operands.len(), at.operands.len(), function)?;
    Ok(Type::Array(ArrayType::new(element, at.array(0)?.dims.clone())))
}
