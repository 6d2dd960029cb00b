//! Compares the values of a model file with expected ones, for `--inputs` and `--expect` of `inspect` and `numerics`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::file::FileSource;
use crate::inspect_args::ArraysArgs;
use ns_device::OperatorKernels;
use ns_program::eval::{Arithmetic, Casts};
use ns_program::{ImportedModel, ResultComparison, Value, compare};
use ns_readers::read_npz;
use ns_session::DEFAULT_TOLERANCE;

/// Default tolerance: largest difference of a result, divided by the largest expected number.
pub(super) const FILE_TOLERANCE: f64 = 1e-4;

/// The arrays of a file of `numpy.savez`. Fails when it cannot be read.
pub(super) fn read_arrays(path: &Path) -> Result<Vec<(String, Value)>> {
    read_npz(&FileSource::open(path)?).with_context(|| path.display().to_string())
}

/// Results of a model file, compared with expected ones.
pub(super) struct Comparison {
    results: Vec<ResultComparison>,
    tolerance: f64,
}

/// One result as JSON.
#[derive(Serialize)]
pub(super) struct JsonComparison {
    index: usize,
    shape: String,
    relative_error: Option<f64>,
    max_abs_error: Option<f64>,
    passed: bool,
}

impl Comparison {
    /// Computes a model on arrays from files, with the casts of a core if given; `None` when no arrays are given. Fails when an
    /// array is missing or of another shape, or the model has no values here.
    pub fn of(
        imported: &ImportedModel,
        bytes: &FileSource,
        arrays: &ArraysArgs,
        tolerance: Option<f64>,
        casts: Option<Casts>,
        kernels: &OperatorKernels,
    ) -> Result<Option<Self>> {
        let (inputs, expect) = match (&arrays.inputs, &arrays.expect) {
            (Some(inputs), Some(expect)) => (inputs, expect),
            (Some(_), None) => bail!("--inputs needs --expect FILE.npz with the expected results"),
            _ => return Ok(None),
        };
        let tolerance = tolerance.unwrap_or(if casts.is_some() { DEFAULT_TOLERANCE } else { FILE_TOLERANCE });
        if tolerance.is_nan() || tolerance <= 0.0 {
            bail!("--tolerance {tolerance}: use a number above 0, such as {FILE_TOLERANCE}");
        }
        let outside = kernels.outside();
        let arithmetic = Arithmetic { casts: casts.unwrap_or(Casts::NONE), outside: Some(&outside) };
        let results = compare(imported, bytes, &read_arrays(inputs)?, &read_arrays(expect)?, arithmetic)
            .map_err(anyhow::Error::msg)?;
        Ok(Some(Self { results, tolerance }))
    }

    fn passes(&self, result: &ResultComparison) -> bool {
        result.relative_error <= self.tolerance
    }

    /// A line for each result.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        for r in &self.results {
            let said = if self.passes(r) { "PASS" } else { "FAIL" };
            let _ = writeln!(out, "result {} {}: {said}, relative error {:.3e}", r.index, r.ty, r.relative_error);
        }
        out
    }

    /// The results as JSON.
    pub fn json(&self) -> Vec<JsonComparison> {
        let finite = |v: f64| v.is_finite().then_some(v);
        let one = |r: &ResultComparison| JsonComparison {
            index: r.index,
            shape: r.ty.clone(),
            relative_error: finite(r.relative_error),
            max_abs_error: finite(r.max_abs_error),
            passed: self.passes(r),
        };
        self.results.iter().map(one).collect()
    }

    /// Whether all results are as expected. An error says how many results are not.
    pub fn verdict(&self) -> Result<()> {
        match self.results.iter().filter(|r| !self.passes(r)).count() {
            0 => Ok(()),
            failed => {
                bail!(
                    "{failed} of {} results differ by more than the tolerance of {}",
                    self.results.len(),
                    self.tolerance
                )
            }
        }
    }
}
