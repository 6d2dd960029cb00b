//! Reductions, sorts, normalisations, tuples and calls.

use super::{Inference, Signature, check_dimensions};
use crate::import::program::{ArrayType, ElementType, Op, Type};

pub(super) fn result(at: &Inference<'_>) -> Result<Type, String> {
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
            other => Err(format!("it takes element {i} of {other}")),
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

fn called<'a>(at: &Inference<'a>, n: usize) -> Result<&'a [&'a Signature], String> {
    if at.called.len() != n {
        return Err(format!("it calls {} computations and takes {n}", at.called.len()));
    }
    Ok(at.called)
}

fn reduce(at: &Inference<'_>, dimensions: &[u32]) -> Result<Type, String> {
    let n = at.operands.len() / 2;
    if !at.operands.len().is_multiple_of(2) {
        return Err(format!("it has {} operands and takes as many arrays as first values", at.operands.len()));
    }
    let combine = called(at, 1)?[0];
    if combine.parameters.len() != 2 * n {
        return Err(format!("it reduces {n} arrays with a computation of {} parameters", combine.parameters.len()));
    }
    let mut types = Vec::new();
    for i in 0..n {
        let array = at.array(i)?;
        check_dimensions(dimensions, array.dims.len(), "it")?;
        if array.dims != at.array(0)?.dims || !at.array(n + i)?.dims.is_empty() {
            return Err(format!("it reduces {array} from {}", at.array(n + i)?));
        }
        let kept = array.dims.iter().enumerate().filter(|(d, _)| !dimensions.contains(&(*d as u32)));
        let result = if n == 1 { &combine.result } else { part(&combine.result, i)? };
        let element = result.array().map_or(array.element, |a| a.element);
        types.push(Type::Array(ArrayType::new(element, kept.map(|(_, &d)| d).collect::<Vec<_>>())));
    }
    Ok(if n == 1 { types[0].clone() } else { Type::Tuple(types) })
}

fn part(ty: &Type, i: usize) -> Result<&Type, String> {
    match ty {
        Type::Tuple(parts) if i < parts.len() => Ok(&parts[i]),
        other => Err(format!("its computation gives {other}")),
    }
}

fn sort(at: &Inference<'_>, dimension: u32) -> Result<Type, String> {
    let n = at.operands.len();
    let compare = called(at, 1)?[0];
    if compare.parameters.len() != 2 * n {
        return Err(format!("it sorts {n} arrays with a computation of {} parameters", compare.parameters.len()));
    }
    for i in 0..n {
        check_dimensions(&[dimension], at.array(i)?.dims.len(), "it")?;
        if at.array(i)?.dims != at.array(0)?.dims {
            return Err(format!("it sorts {} along with {}", at.array(i)?, at.array(0)?));
        }
    }
    Ok(if n == 1 { at.operands[0].clone() } else { Type::Tuple(at.operands.iter().map(|t| (*t).clone()).collect()) })
}

fn top_k(at: &Inference<'_>, k: u64) -> Result<Type, String> {
    let array = at.array(0)?;
    let mut dims = array.dims.clone();
    match dims.last_mut() {
        Some(last) if k <= *last => *last = k,
        _ => return Err(format!("it takes the {k} largest of {array}")),
    }
    let index = ArrayType::new(ElementType::S32, dims.clone());
    Ok(Type::Tuple(vec![Type::Array(ArrayType::new(array.element, dims)), Type::Array(index)]))
}

/// The type of a value for each channel.
fn batch_norm(at: &Inference<'_>, feature: u32, channels: std::ops::Range<usize>) -> Result<Type, String> {
    let x = at.array(0)?;
    check_dimensions(&[feature], x.dims.len(), "feature_index")?;
    for i in channels {
        let channel = at.array(i)?;
        if channel.dims != [x.dims[feature as usize]] {
            return Err(format!("its operand {i} is {channel} and {x} has {} channels", x.dims[feature as usize]));
        }
    }
    Ok(Type::Array(ArrayType::new(at.array(1)?.element, [x.dims[feature as usize]])))
}

fn check_arguments(signature: &Signature, arguments: &[&Type]) -> Result<(), String> {
    if signature.parameters.len() != arguments.len() {
        let (takes, given) = (signature.parameters.len(), arguments.len());
        return Err(format!("it calls a computation of {takes} parameters with {given} values"));
    }
    for (i, (takes, given)) in signature.parameters.iter().zip(arguments).enumerate() {
        if takes != *given {
            return Err(format!("it gives {given} to parameter {i} of a computation, which is {takes}"));
        }
    }
    Ok(())
}

fn call(at: &Inference<'_>) -> Result<Type, String> {
    let callee = called(at, 1)?[0];
    check_arguments(callee, at.operands)?;
    Ok(callee.result.clone())
}

fn loops(at: &Inference<'_>) -> Result<Type, String> {
    let [condition, body] = called(at, 2)? else { return Ok(at.declared.clone()) };
    check_arguments(condition, at.operands)?;
    check_arguments(body, at.operands)?;
    if body.result != *at.operands[0] {
        return Err(format!("its body gives {} and it begins with {}", body.result, at.operands[0]));
    }
    if condition.result != Type::Array(ArrayType::new(ElementType::Pred, [])) {
        return Err(format!("its condition gives {}", condition.result));
    }
    Ok(body.result.clone())
}

fn conditional(at: &Inference<'_>) -> Result<Type, String> {
    let branches = at.called.len();
    if branches == 0 || branches + 1 != at.operands.len() {
        return Err(format!("it has {branches} branches and {} operands", at.operands.len()));
    }
    for (branch, argument) in at.called.iter().zip(&at.operands[1..]) {
        check_arguments(branch, std::slice::from_ref(argument))?;
        if branch.result != at.called[0].result {
            return Err(format!("its branches give {} and {}", at.called[0].result, branch.result));
        }
    }
    Ok(at.called[0].result.clone())
}

fn map(at: &Inference<'_>) -> Result<Type, String> {
    let function = called(at, 1)?[0];
    let element = function.result.array().map(|a| a.element).ok_or("its computation does not give a number")?;
    if function.parameters.len() != at.operands.len() {
        return Err(format!("it maps {} arrays with {} parameters", at.operands.len(), function.parameters.len()));
    }
    Ok(Type::Array(ArrayType::new(element, at.array(0)?.dims.clone())))
}
