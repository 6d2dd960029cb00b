//! Reductions, sorts, normalisations, tuples and calls.
use super::{Inference, Signature, check_dimensions};
use crate::{ArrayType, ElementType, Op, Type};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

pub(super) fn result(at: &Inference<'_>) -> Result<Type, Refusal> {
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
            other => Err(refuse!("it takes element {i} of {other}")),
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

fn called<'a>(at: &Inference<'a>, n: usize) -> Result<&'a [&'a Signature], Refusal> {
    if at.called.len() != n {
        return Err(refuse!("it calls {} computations and takes {n}", at.called.len()));
    }
    Ok(at.called)
}

fn reduce(at: &Inference<'_>, dimensions: &[u32]) -> Result<Type, Refusal> {
    let n = at.operands.len() / 2;
    if !at.operands.len().is_multiple_of(2) {
        return Err(refuse!("it has {} operands and takes as many arrays as first values", at.operands.len()));
    }
    let combine = called(at, 1)?[0];
    check_count(combine, 2 * n, |takes| format!("it reduces {n} arrays with a computation of {takes} parameters"))?;
    let mut types = Vec::new();
    for i in 0..n {
        let array = at.array(i)?;
        check_dimensions(dimensions, array.dims.len(), "it")?;
        if array.dims != at.array(0)?.dims || !at.array(n + i)?.dims.is_empty() {
            return Err(refuse!("it reduces {array} from {}", at.array(n + i)?));
        }
        let kept = array.dims.iter().enumerate().filter(|(d, _)| !dimensions.contains(&usize_to_u32(*d)));
        let result = if n == 1 { &combine.result } else { part(&combine.result, i)? };
        let element = result.array().map_or(array.element, |a| a.element);
        types.push(Type::Array(ArrayType::new(element, kept.map(|(_, &d)| d).collect::<Vec<_>>())));
    }
    Ok(if n == 1 { types[0].clone() } else { Type::Tuple(types) })
}

fn part(ty: &Type, i: usize) -> Result<&Type, Refusal> {
    match ty {
        Type::Tuple(parts) if i < parts.len() => Ok(&parts[i]),
        other => Err(refuse!("its computation gives {other}")),
    }
}

fn sort(at: &Inference<'_>, dimension: u32) -> Result<Type, Refusal> {
    let n = at.operands.len();
    let compare = called(at, 1)?[0];
    check_count(compare, 2 * n, |takes| format!("it sorts {n} arrays with a computation of {takes} parameters"))?;
    for i in 0..n {
        check_dimensions(&[dimension], at.array(i)?.dims.len(), "it")?;
        if at.array(i)?.dims != at.array(0)?.dims {
            return Err(refuse!("it sorts {} along with {}", at.array(i)?, at.array(0)?));
        }
    }
    Ok(if n == 1 { at.operands[0].clone() } else { Type::Tuple(at.operands.iter().map(|t| (*t).clone()).collect()) })
}

fn top_k(at: &Inference<'_>, k: u64) -> Result<Type, Refusal> {
    let array = at.array(0)?;
    let mut dims = array.dims.clone();
    match dims.last_mut() {
        Some(last) if k <= *last => *last = k,
        _ => return Err(refuse!("it takes the {k} largest of {array}")),
    }
    let index = ArrayType::new(ElementType::S32, dims.clone());
    Ok(Type::Tuple(vec![Type::Array(ArrayType::new(array.element, dims)), Type::Array(index)]))
}

/// The type of an array with one value for each channel.
fn batch_norm(at: &Inference<'_>, feature: u32, channels: std::ops::Range<usize>) -> Result<Type, Refusal> {
    let x = at.array(0)?;
    check_dimensions(&[feature], x.dims.len(), "feature_index")?;
    for i in channels {
        let channel = at.array(i)?;
        let channels = x.dims[feature as usize];
        if channel.dims != [channels] {
            return Err(refuse!("its operand {i} is {channel} and {x} has {channels} channels"));
        }
    }
    Ok(Type::Array(ArrayType::new(at.array(1)?.element, [x.dims[feature as usize]])))
}

/// Checks that a computation has the parameters that its caller passes.
fn check_count(signature: &Signature, wanted: usize, sentence: impl FnOnce(usize) -> String) -> Result<(), Refusal> {
    let parameters = signature.parameters.len();
    if parameters == wanted { Ok(()) } else { Err(Refusal::new(sentence(parameters))) }
}

fn check_arguments(signature: &Signature, arguments: &[&Type]) -> Result<(), Refusal> {
    let n = arguments.len();
    check_count(signature, n, |takes| format!("it calls a computation of {takes} parameters with {n} values"))?;
    for (i, (takes, given)) in signature.parameters.iter().zip(arguments).enumerate() {
        if takes != *given {
            return Err(refuse!("it gives {given} to parameter {i} of a computation, which is {takes}"));
        }
    }
    Ok(())
}

fn call(at: &Inference<'_>) -> Result<Type, Refusal> {
    let callee = called(at, 1)?[0];
    check_arguments(callee, at.operands)?;
    Ok(callee.result.clone())
}

fn loops(at: &Inference<'_>) -> Result<Type, Refusal> {
    let [condition, body] = called(at, 2)? else { return Ok(at.declared.clone()) };
    check_arguments(condition, at.operands)?;
    check_arguments(body, at.operands)?;
    if body.result != *at.operands[0] {
        let (gives, begins) = (&body.result, at.operands[0]);
        return Err(refuse!("its body gives {gives} and it begins with {begins}"));
    }
    if condition.result != Type::Array(ArrayType::new(ElementType::Pred, [])) {
        return Err(refuse!("its condition gives {}", condition.result));
    }
    Ok(body.result.clone())
}

fn conditional(at: &Inference<'_>) -> Result<Type, Refusal> {
    let branches = at.called.len();
    if branches == 0 || branches + 1 != at.operands.len() {
        return Err(refuse!("it has {branches} branches and {} operands", at.operands.len()));
    }
    for (branch, argument) in at.called.iter().zip(&at.operands[1..]) {
        check_arguments(branch, std::slice::from_ref(argument))?;
        if branch.result != at.called[0].result {
            let (first, other) = (&at.called[0].result, &branch.result);
            return Err(refuse!("its branches give {first} and {other}"));
        }
    }
    Ok(at.called[0].result.clone())
}

fn map(at: &Inference<'_>) -> Result<Type, Refusal> {
    let function = called(at, 1)?[0];
    let element =
        function.result.array().map(|a| a.element).ok_or_else(|| refuse!("its computation does not give a number"))?;
    let n = at.operands.len();
    check_count(function, n, |takes| format!("it maps {n} arrays with {takes} parameters"))?;
    Ok(Type::Array(ArrayType::new(element, at.array(0)?.dims.clone())))
}
