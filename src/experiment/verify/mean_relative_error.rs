//! The rule of the README: the mean relative error against an eager run, and a threshold.

use serde::Serialize;

use super::sum::sum_f32;
use super::value::{Outcome, Output, Scalar, TensorValue};
use ns_base::convert::{f64_to_f32, usize_to_f32};

/// The codes of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MreCode {
    /// The error is below the threshold.
    Pass,
    /// The error is not below the threshold.
    Fail,
    /// Two eager runs already differ by the threshold or more.
    NondeterministicEagerRun,
    /// The model did not run.
    CannotProceedWithVerification,
    /// The experiment returned no outputs.
    NoOutputProvided,
    /// Verification was not asked for.
    SkipVerification,
    /// The outputs cannot be compared, or a run raised an exception.
    VerificationFailed,
}

/// A code, and the error where one was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MreOutcome {
    pub code: MreCode,
    /// Mean of `|b - a| / |a|`, a float32 number.
    pub error: Option<f64>,
}

impl MreOutcome {
    /// A code without an error.
    pub fn of(code: MreCode) -> Self {
        Self { code, error: None }
    }
}

/// Compares two eager runs with each other, and then the first with the experiment's output. Only plain tensors can be
/// compared.
///
/// An eager output with an exact zero has no relative error (0 / 0): the rule calls it nondeterministic.
pub fn mean_relative_error_rules(eager: [&Outcome; 2], test: &Outcome, tolerance: f64) -> MreOutcome {
    if *test == Outcome::Returned(Output::Scalar(Scalar::None)) {
        return MreOutcome::of(MreCode::NoOutputProvided);
    }
    let [first, second] = eager;
    let Some(repeat) = error_of(first, second) else { return MreOutcome::of(MreCode::VerificationFailed) };
    // Not `>=`: NaN is not below anything.
    if !is_below(repeat, tolerance) {
        return MreOutcome { code: MreCode::NondeterministicEagerRun, error: Some(repeat) };
    }
    let Some(error) = error_of(first, test) else { return MreOutcome::of(MreCode::VerificationFailed) };
    let code = if is_below(error, tolerance) { MreCode::Pass } else { MreCode::Fail };
    MreOutcome { code, error: Some(error) }
}

fn is_below(error: f64, tolerance: f64) -> bool {
    error < tolerance
}

fn error_of(reference: &Outcome, other: &Outcome) -> Option<f64> {
    match (reference, other) {
        (Outcome::Returned(Output::Tensor(a)), Outcome::Returned(Output::Tensor(b))) => relative_error(a, b),
        _ => None,
    }
}

/// `sum(|b - a| / |a|)` divided by the number of elements, in float32; `None` when the shapes do not fit.
fn relative_error(a: &TensorValue, b: &TensorValue) -> Option<f64> {
    let relative = |(a, b): (f64, f64)| {
        let (a, b) = (f64_to_f32(a), f64_to_f32(b));
        (b - a).abs() / a.abs()
    };
    let errors: Vec<f32> = a.broadcast(b)?.into_iter().map(relative).collect();
    Some(f64::from(sum_f32(&errors) / usize_to_f32(a.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::ElementType;

    fn tensor(values: &[f64]) -> Outcome {
        let element = ElementType::F32;
        Outcome::Returned(Output::Tensor(TensorValue { element, shape: vec![values.len()], values: values.to_vec() }))
    }

    #[test]
    fn outliers_zeros_and_nothing() {
        let ones = tensor(&[1.0; 64]);
        let rules = |test: &Outcome| mean_relative_error_rules([&ones, &ones], test, 0.02);
        let mut one = [1.0; 64];
        one[3] = 2.0;
        assert_eq!(rules(&tensor(&one)), MreOutcome { code: MreCode::Pass, error: Some(1.0 / 64.0) });
        one[9] = 2.0;
        assert_eq!(rules(&tensor(&one)).code, MreCode::Fail);
        assert_eq!(rules(&tensor(&[1.0; 3])).code, MreCode::VerificationFailed);
        assert_eq!(rules(&Outcome::Raised).code, MreCode::VerificationFailed);
        assert_eq!(rules(&Outcome::Returned(Output::Scalar(Scalar::None))).code, MreCode::NoOutputProvided);
        let zero = tensor(&[0.0, 1.0]);
        let outcome = mean_relative_error_rules([&zero, &zero], &zero, 0.02);
        assert_eq!(outcome.code, MreCode::NondeterministicEagerRun);
        assert!(outcome.error.unwrap().is_nan());
        // The comparison is strict: with a threshold of zero, every output fails.
        assert_eq!(mean_relative_error_rules([&ones, &ones], &ones, 0.0).code, MreCode::NondeterministicEagerRun);
        let empty = tensor(&[]);
        assert_eq!(mean_relative_error_rules([&empty, &empty], &empty, 0.02).code, MreCode::NondeterministicEagerRun);
    }
}
