//! Values of an answer, and their order.

use std::cmp::Ordering;

use ns_base::convert::i64_to_f64;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryValue {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// The value is missing.
    Missing,
}

pub(super) fn number(value: &QueryValue) -> Option<f64> {
    match value {
        QueryValue::Int(n) => Some(i64_to_f64(*n)),
        QueryValue::Real(x) => Some(*x),
        QueryValue::Text(_) | QueryValue::Missing => None,
    }
}

/// Numbers before texts before missing values.
pub(super) fn compare(a: &QueryValue, b: &QueryValue) -> Ordering {
    let rank = |v: &QueryValue| match v {
        QueryValue::Int(_) | QueryValue::Real(_) => 0,
        QueryValue::Text(_) => 1,
        QueryValue::Missing => 2,
    };
    match (a, b) {
        (QueryValue::Int(a), QueryValue::Int(b)) => a.cmp(b),
        (QueryValue::Text(a), QueryValue::Text(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}
