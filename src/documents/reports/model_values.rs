//! Values of a model file beside expected ones: `--inputs` and `--expect` of `inspect` and `numerics`.

use std::fmt::Write as _;

use serde::Serialize;

use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_device::OperatorKernels;
use ns_neuron::numerics::DEFAULT_TOLERANCE;
use ns_program::eval::{Arithmetic, Casts};
use ns_program::{ImportedModel, ResultComparison, Value, compare, results};

/// Default tolerance without casts: largest difference of a result, divided by the largest expected number.
const FILE_TOLERANCE: f64 = 1e-4;

/// Results of a model file, compared with expected ones.
pub struct ModelValues {
    results: Vec<ResultComparison>,
    tolerance: f64,
}

/// One result as JSON.
#[derive(Serialize)]
pub struct ModelValueJson {
    index: usize,
    shape: String,
    relative_error: Option<f64>,
    max_abs_error: Option<f64>,
    passed: bool,
}

/// Named arrays of a file.
type Arrays<'a> = &'a [(String, Value)];

/// What a model gives for arrays, with the casts of a core. Fails when an array is missing or of another shape, or the model has no values
/// here.
pub fn model_results(
    (imported, bytes): (&ImportedModel, &dyn ByteSource),
    inputs: Arrays<'_>,
    casts: Casts,
    kernels: &OperatorKernels,
) -> Result<Vec<Value>, Refusal> {
    let outside = kernels.outside();
    results(imported, bytes, inputs, Arithmetic { casts, outside: Some(&outside) })
}

impl ModelValues {
    /// Computes a model on arrays, with the casts of a core if given. Fails when an array is missing or of another shape, or the model has
    /// no values here.
    pub fn of(
        (imported, bytes): (&ImportedModel, &dyn ByteSource),
        (inputs, expected): (Arrays<'_>, Arrays<'_>),
        tolerance: Option<f64>,
        casts: Option<Casts>,
        kernels: &OperatorKernels,
    ) -> Result<Self, Refusal> {
        let tolerance = tolerance.unwrap_or(if casts.is_some() { DEFAULT_TOLERANCE } else { FILE_TOLERANCE });
        if tolerance.is_nan() || tolerance <= 0.0 {
            return Err(refuse!("--tolerance {tolerance}: use a number above 0, such as {FILE_TOLERANCE}"));
        }
        let outside = kernels.outside();
        let arithmetic = Arithmetic { casts: casts.unwrap_or(Casts::NONE), outside: Some(&outside) };
        Ok(Self { results: compare(imported, bytes, inputs, expected, arithmetic)?, tolerance })
    }

    fn passes(&self, result: &ResultComparison) -> bool {
        result.relative_error <= self.tolerance
    }

    /// A line for each result.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for r in &self.results {
            let said = if self.passes(r) { "PASS" } else { "FAIL" };
            let _ = writeln!(out, "result {} {}: {said}, relative error {:.3e}", r.index, r.ty, r.relative_error);
        }
        out
    }

    /// The results as JSON.
    pub fn json(&self) -> Vec<ModelValueJson> {
        let finite = |v: f64| v.is_finite().then_some(v);
        let one = |r: &ResultComparison| ModelValueJson {
            index: r.index,
            shape: r.ty.clone(),
            relative_error: finite(r.relative_error),
            max_abs_error: finite(r.max_abs_error),
            passed: self.passes(r),
        };
        self.results.iter().map(one).collect()
    }

    /// Whether all results are as expected. An error says how many results are not.
    pub fn verdict(&self) -> Result<(), Refusal> {
        match self.results.iter().filter(|r| !self.passes(r)).count() {
            0 => Ok(()),
            failed => {
                let all = self.results.len();
                Err(refuse!("{failed} of {all} results differ by more than the tolerance of {}", self.tolerance))
            }
        }
    }
}
