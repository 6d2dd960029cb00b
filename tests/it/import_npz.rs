//! Expected values of models, and how far results are from them.

use neuronscope::import::program::{Numbers, Value};
use neuronscope::import::read_npz;

/// The arrays of an archive by name, in its order.
pub fn arrays(bytes: &[u8]) -> Vec<(String, Value)> {
    read_npz(&bytes.to_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// The largest distance between two arrays, as a share of the largest expected number (and of 1e-3 at least).
pub fn distance(given: &Value, expected: &Value) -> f64 {
    assert_eq!(given.ty, expected.ty);
    let list = |v: &Value| match &v.numbers {
        Numbers::Real(v) => v.clone(),
        Numbers::Whole(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Complex(v) => v.iter().flatten().copied().collect(),
    };
    let (a, b) = (list(given), list(expected));
    let most = b.iter().fold(1e-3f64, |m, n| m.max(n.abs()));
    a.iter().zip(&b).fold(0.0, |m: f64, (a, b)| m.max(if a == b { 0.0 } else { (a - b).abs() / most }))
}
