//! Compares a model's results with the expected ones.

use crate::eval::{Arithmetic, evaluate_with};
use crate::{ImportedModel, Numbers, ProgramParameter, Role, Value, load_parameter};
use ns_base::convert::i64_to_f64;
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;

/// Most operations of a comparison, which take some seconds.
const BUDGET: u64 = 1 << 35;

/// One result compared with the expected one.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultComparison {
    /// Position among the results.
    pub index: usize,
    pub ty: String,
    /// The largest difference over the largest expected number (at least 1e-3); infinite where only one side is NaN.
    pub relative_error: f64,
    pub max_abs_error: f64,
}

/// Evaluates a model on arrays by name and compares its results with the expected ones.
///
/// An array belongs to a parameter by the parameter's name, as `arg0`, `arg1` .. by its number, or as `in0`, `in1` .. by its number among the inputs.
/// Weights that the file holds do not need an array. Expected results are `out0`, `out1` .., or have
/// the names of the results. Numbers are computed as `arithmetic` says. Fails when a parameter has no numbers, an operation cannot
/// be computed, or a result is missing.
pub fn compare<'a>(
    imported: &'a ImportedModel,
    bytes: &dyn ByteSource,
    inputs: &[(String, Value)],
    expected: &[(String, Value)],
    arithmetic: impl Into<Arithmetic<'a>>,
) -> Result<Vec<ResultComparison>, Refusal> {
    let results = results(imported, bytes, inputs, arithmetic)?;
    let names = &imported.inspection.outputs;
    let named = |n: usize| names.get(n).and_then(|o| expected.iter().find(|(name, _)| *name == o.name));
    let wanted: Vec<&Value> = (0..)
        .map_while(|n| expected.iter().find(|(name, _)| *name == format!("out{n}")).or_else(|| named(n)))
        .map(|(_, value)| value)
        .collect();
    if wanted.is_empty() {
        let name = names.first().map(|o| o.name.clone()).unwrap_or_default();
        let given: Vec<String> = expected.iter().map(|(name, _)| name.clone()).collect();
        return Err(refuse!(
            "no array holds an expected result: name it {name}, or out0; the file has {}",
            list_names(&given)
        ));
    }
    if results.len() < wanted.len() {
        return Err(refuse!("the model gives {} results and {} are expected", results.len(), wanted.len()));
    }
    wanted.into_iter().zip(&results).enumerate().map(|(index, (want, given))| one(index, given, want)).collect()
}

/// Evaluates a model on arrays by name, as [`compare`] does. Fails when a parameter has no numbers, or an operation cannot be
/// computed.
pub fn results<'a>(
    imported: &'a ImportedModel,
    bytes: &dyn ByteSource,
    inputs: &[(String, Value)],
    arithmetic: impl Into<Arithmetic<'a>>,
) -> Result<Vec<Value>, Refusal> {
    let parameters = bind(imported, bytes, inputs)?;
    Ok(evaluate_with(&imported.program, parameters, BUDGET, arithmetic)?.outputs)
}

/// Names in a row, or that there are none.
fn list_names(names: &[String]) -> String {
    if names.is_empty() { "no array".to_owned() } else { names.join(", ") }
}

fn bind(imported: &ImportedModel, bytes: &dyn ByteSource, arrays: &[(String, Value)]) -> Result<Vec<Value>, Refusal> {
    let find = |name: &str| arrays.iter().find(|(n, _)| n == name).map(|(_, v)| v);
    let mut inputs = 0;
    let mut bound = Vec::new();
    for (n, parameter) in imported.program.parameters.iter().enumerate() {
        let named = find(&parameter.name).or_else(|| find(&format!("arg{n}")));
        let found = if parameter.role == Role::Input {
            let nth = find(&format!("in{inputs}"));
            inputs += 1;
            named.or(nth).cloned()
        } else {
            match named {
                Some(value) => Some(value.clone()),
                None => load_parameter(bytes, parameter).map_err(|e| Refusal::new(e.to_string()))?,
            }
        };
        let ProgramParameter { name, ty, .. } = parameter;
        let Some(mut value) = found else {
            return Err(refuse!("no array holds {name} ({ty}): name it {name}, arg{n} or in{}", inputs.max(1) - 1));
        };
        if value.ty.dims != ty.dims {
            return Err(refuse!("{name} is {ty} and the array given is {}", value.ty));
        }
        // NumPy does not have bfloat16: inputs of this type are given in single precision.
        value.ty = ty.clone();
        bound.push(value);
    }
    Ok(bound)
}

fn one(index: usize, given: &Value, want: &Value) -> Result<ResultComparison, Refusal> {
    if given.ty.dims != want.ty.dims {
        let (given, expected) = (&given.ty, &want.ty);
        return Err(refuse!("result {index} is {given} and {expected} is expected"));
    }
    let list = |v: &Value| -> Vec<f64> {
        match &v.numbers {
            Numbers::Real(v) => v.clone(),
            Numbers::Whole(v) => v.iter().map(|&n| i64_to_f64(n)).collect(),
            Numbers::Complex(v) => v.iter().flatten().copied().collect(),
        }
    };
    let (a, b) = (list(given), list(want));
    let most = b.iter().filter(|n| n.is_finite()).fold(1e-3f64, |m, n| m.max(libm::fabs(*n)));
    let difference = |(a, b): (&f64, &f64)| {
        if a == b || (a.is_nan() && b.is_nan()) {
            0.0
        } else if a.is_finite() && b.is_finite() {
            libm::fabs(a - b)
        } else {
            f64::INFINITY
        }
    };
    let max_abs_error = a.iter().zip(&b).map(difference).fold(0.0, f64::max);
    Ok(ResultComparison { index, ty: given.ty.to_string(), relative_error: max_abs_error / most, max_abs_error })
}
