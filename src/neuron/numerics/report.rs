//! The result of a comparison, as plain data for every shell.

use serde::{Deserialize, Serialize};

use super::NumericsSpec;

/// A device's outputs compared with the reference's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumericsReport {
    pub spec: NumericsSpec,
    /// The core that computed: `NeuronCore-v2`.
    pub core: String,
    /// `PASS` when every output passed, else `FAIL`.
    pub status: String,
    /// One comparison for each output of the model.
    pub outputs: Vec<OutputComparison>,
    /// The first operation on the device that made a NaN from operands without one.
    pub first_nan: Option<Origin>,
    /// The first operation on the device that made an infinity from operands without one.
    pub first_inf: Option<Origin>,
    /// The first product on the device whose values are all zero though its operands are not (underflow).
    pub first_underflow: Option<Origin>,
    /// The same operation of the reference, if the reference has a NaN too: then the cast did not cause it.
    pub reference_nan: Option<Origin>,
    /// See [`Self::reference_nan`].
    pub reference_inf: Option<Origin>,
    /// See [`Self::reference_nan`].
    pub reference_underflow: Option<Origin>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
    /// Floating point operations of the model's products.
    pub flops: u64,
    /// How good the answers to the records of a data set are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricValues>,
}

/// A metric of the reference's answers and of the device's; `None` where it has no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricValues {
    pub metric: String,
    pub reference: Option<f64>,
    pub device: Option<f64>,
}

/// An operation that made an exception that its operands did not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Framework path: `Matmult[model]/Linear[matmult]/aten__mm_dot`.
    pub path: String,
    /// Name in HLO: `dot.3`.
    pub hlo: String,
    /// Opcode: `dot`.
    pub opcode: String,
    /// Position among the operations that were evaluated, from 0.
    pub operation: u64,
    /// Elements with the exception.
    pub elements: u64,
    /// Elements of the value in total.
    pub of: u64,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputComparison {
    /// Position among the outputs.
    pub index: u32,
    /// Framework path of the operation that computes it.
    pub path: String,
    /// `f32[4,2]`
    pub shape: String,
    /// Mean over the elements of |device - reference| / |reference|, where equal elements count as zero; absent when
    /// nothing can be compared. Elements whose reference is zero and whose device value is not are left out, and counted
    /// in `zero_reference`.
    pub mean_relative_error: Option<f64>,
    /// Largest |device - reference|; absent when the mean is.
    pub max_abs_error: Option<f64>,
    /// Elements left out of the mean.
    pub zero_reference: u64,
    /// NaNs of the device.
    pub nan: u64,
    /// Infinities of the device.
    pub inf: u64,
    /// The tolerance for the mean.
    pub tolerance: f64,
    pub passed: bool,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// The first values of both.
    pub sample: Sample,
}

/// The upper left corner of an output; a row is its last dimension.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Rows shown.
    pub rows: u32,
    /// Columns shown.
    pub columns: u32,
    /// Rows of the output.
    pub all_rows: u64,
    /// Columns of the output.
    pub all_columns: u64,
    /// The reference's values, row by row.
    pub reference: Vec<f32>,
    pub device: Vec<f32>,
}

/// A value as text: up to four digits after the point.
pub fn value_text(v: f32) -> String {
    if v == 0.0 || (1e-3..1e5).contains(&v.abs()) { format!("{v:.4}") } else { format!("{v:.4e}") }
}

impl NumericsReport {
    /// The comparison as `neuronscope numerics --json` prints it, ended by a newline. Fails when it cannot be encoded, which does
    /// not happen for numbers in memory.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Whether every output passed.
    pub fn passed(&self) -> bool {
        self.outputs.iter().all(|o| o.passed)
    }
}
