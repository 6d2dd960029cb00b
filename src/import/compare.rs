//! A model's results beside those that are expected of it.

use super::eval::{Casts, evaluate_with};
use super::program::{Numbers, Role, Value};
use super::{Imported, ModelBytes, load_parameter};

/// Operations that a comparison may take: some seconds.
const BUDGET: u64 = 1 << 35;

/// One result beside what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultComparison {
    /// Position among the results.
    pub index: usize,
    /// Its type.
    pub ty: String,
    /// The largest difference over the largest expected number (over 1e-3 at least); infinite where one side alone is not a number.
    pub relative_error: f64,
    /// The largest difference.
    pub max_abs_error: f64,
}

/// Computes a model for arrays by name and compares its results with those expected.
///
/// Arrays are found by the name of a parameter, as `arg0`, `arg1` .. by its number, or as `in0`, `in1` .. by its number among the inputs.
/// Weights that the file holds need no array. Expected results are `out0`, `out1` ... Numbers of single precision are cast as `casts` says.
///
/// # Errors
/// With the parameter that has no numbers, the operation that cannot be computed, or the result that is missing.
pub fn compare(
    imported: &Imported,
    bytes: &dyn ModelBytes,
    inputs: &[(String, Value)],
    expected: &[(String, Value)],
    casts: Casts,
) -> Result<Vec<ResultComparison>, String> {
    let parameters = bind(imported, bytes, inputs)?;
    let results = evaluate_with(&imported.program, parameters, BUDGET, casts).map_err(|e| e.to_string())?.outputs;
    let wanted: Vec<&Value> = (0..)
        .map_while(|n| expected.iter().find(|(name, _)| *name == format!("out{n}")))
        .map(|(_, value)| value)
        .collect();
    if wanted.is_empty() {
        return Err("the file of expected results has no array out0".to_owned());
    }
    if results.len() < wanted.len() {
        return Err(format!("the model gives {} results and {} are expected", results.len(), wanted.len()));
    }
    wanted.into_iter().zip(&results).enumerate().map(|(index, (want, given))| one(index, given, want)).collect()
}

fn bind(imported: &Imported, bytes: &dyn ModelBytes, arrays: &[(String, Value)]) -> Result<Vec<Value>, String> {
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
                None => load_parameter(bytes, parameter).map_err(|e| e.to_string())?,
            }
        };
        let mut value = found.ok_or_else(|| {
            format!(
                "no array holds {} ({}): name it {}, arg{n} or in{}",
                parameter.name,
                parameter.ty,
                parameter.name,
                inputs.max(1) - 1
            )
        })?;
        if value.ty.dims != parameter.ty.dims {
            return Err(format!("{} is {} and the array given is {}", parameter.name, parameter.ty, value.ty));
        }
        // NumPy has no bfloat16: such inputs come in single precision.
        value.ty = parameter.ty.clone();
        bound.push(value);
    }
    Ok(bound)
}

fn one(index: usize, given: &Value, want: &Value) -> Result<ResultComparison, String> {
    if given.ty.dims != want.ty.dims {
        return Err(format!("result {index} is {} and {} is expected", given.ty, want.ty));
    }
    let list = |v: &Value| -> Vec<f64> {
        match &v.numbers {
            Numbers::Real(v) => v.clone(),
            Numbers::Whole(v) => v.iter().map(|&n| n as f64).collect(),
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
