//! Custom calls whose meaning is known by name: those of the Neuron frameworks and of older dialects.

use super::pick::{count, reals};
use crate::calls::passes_on;
use crate::{ArrayType, Foreign, Numbers, Value, round};
use ns_base::convert::usize_to_f64;
use ns_base::{Refusal, refuse};

/// Whether a custom call can be computed here.
pub fn is_known(name: &str) -> bool {
    passes_on(name) || function(name).is_some() || matches!(name, "AwsNeuronSoftmax" | "AwsNeuronRmsNorm")
}

fn function(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "AwsNeuronErf" | "mhlo.erf" => libm::erf,
        "AwsNeuronGelu" => |x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        "AwsNeuronGeluApprxTanh" => |x| {
            let inner = libm::sqrt(2.0 / std::f64::consts::PI) * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + libm::tanh(inner))
        },
        "AwsNeuronSilu" => |x| x / (1.0 + libm::exp(-x)),
        _ => return None,
    })
}

pub(super) fn call(call: &Foreign, operands: &[&Value], ty: &ArrayType) -> Result<Value, Refusal> {
    let operand = |n: usize| operands.get(n).copied().ok_or_else(|| refuse!("operand {n} of {} is missing", call.name));
    if passes_on(&call.name) {
        return Ok(operand(0)?.clone());
    }
    if let Some(f) = function(&call.name) {
        let numbers = reals(operand(0)?)?.iter().map(|&v| round::real(ty.element, f(v))).collect();
        return Ok(Value { ty: ty.clone(), numbers: Numbers::Real(numbers) });
    }
    match call.name.as_str() {
        "AwsNeuronSoftmax" => rows(operand(0)?, &call.config, ty, |row| {
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|v| *v = libm::exp(*v - most));
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
        }),
        "AwsNeuronRmsNorm" => {
            let (weight, epsilon) = (reals(operand(1)?)?, reals(operand(2)?)?);
            let epsilon = epsilon.first().copied().unwrap_or(0.0);
            rows(operand(0)?, &call.config, ty, |row| {
                let square = row.iter().map(|v| v * v).sum::<f64>() / usize_to_f64(row.len().max(1));
                let scale = 1.0 / libm::sqrt(square + epsilon);
                row.iter_mut().zip(weight.iter().cycle()).for_each(|(v, w)| *v *= scale * w);
            })
        }
        name => Err(refuse!("the custom call {name} has no known meaning")),
    }
}

/// Softmax-like functions: each row along the dimension that the call's settings name, by default the last one.
fn rows(x: &Value, config: &str, ty: &ArrayType, mut f: impl FnMut(&mut [f64])) -> Result<Value, Refusal> {
    let rank = x.ty.dims.len();
    let d =
        config.trim().trim_matches('"').parse::<usize>().ok().filter(|&d| d < rank).unwrap_or(rank.saturating_sub(1));
    let size = count(x.ty.dims.get(d..=d).unwrap_or(&[]))?.max(1);
    let step = count(x.ty.dims.get(d + 1..).unwrap_or(&[]))?.max(1);
    let mut numbers = reals(x)?.into_owned();
    for start in (0..numbers.len()).filter(|at| (at / step).is_multiple_of(size)) {
        let mut row: Vec<f64> = (0..size).map(|i| numbers[start + i * step]).collect();
        f(&mut row);
        for (i, v) in row.into_iter().enumerate() {
            numbers[start + i * step] = round::real(ty.element, v);
        }
    }
    Ok(Value { ty: ty.clone(), numbers: Numbers::Real(numbers) })
}
