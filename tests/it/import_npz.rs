//! Expected values of models, and the distance of results from them.

use neuronscope::program::{Numbers, Value};
use neuronscope::readers::read_npz;

/// The arrays of an archive by name, in its order.
pub fn arrays(bytes: &[u8]) -> Vec<(String, Value)> {
    read_npz(&bytes.to_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// The largest distance between two arrays, as a share of the largest expected finite number (at least 1e-3); infinite if only one side
/// is NaN or infinite.
pub fn distance(given: &Value, expected: &Value) -> f64 {
    assert_eq!(given.ty, expected.ty);
    let list = |v: &Value| match &v.numbers {
        Numbers::Real(v) => v.clone(),
        Numbers::Whole(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Complex(v) => v.iter().flatten().copied().collect(),
    };
    let (a, b) = (list(given), list(expected));
    assert_eq!(a.len(), b.len(), "{}", given.ty);
    let most = b.iter().filter(|n| n.is_finite()).fold(1e-3f64, |m, n| m.max(n.abs()));
    let one = |(a, b): (&f64, &f64)| match (a, b) {
        (a, b) if a == b || (a.is_nan() && b.is_nan()) => 0.0,
        (a, b) if a.is_finite() && b.is_finite() => (a - b).abs() / most,
        _ => f64::INFINITY,
    };
    a.iter().zip(&b).map(one).fold(0.0, f64::max)
}

#[test]
fn a_distance_sees_nan() {
    let value = |numbers: [f64; 2]| Value {
        ty: neuronscope::program::ArrayType::new(neuronscope::program::ElementType::F32, [2]),
        numbers: Numbers::Real(numbers.to_vec()),
    };
    let far = |a, b| distance(&value(a), &value(b));
    assert_eq!(far([1.0, 2.0], [1.0, 2.0]), 0.0);
    assert_eq!(far([1.0, 3.0], [1.0, 2.0]), 0.5);
    assert_eq!(far([f64::NAN, f64::INFINITY], [f64::NAN, f64::INFINITY]), 0.0);
    for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, f64::NEG_INFINITY)] {
        assert_eq!(far([a, 2.0], [b, 2.0]), f64::INFINITY, "{a} and {b}");
    }
}
