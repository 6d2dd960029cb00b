//! The specification of a comparison.

use serde::{Deserialize, Serialize};

use ns_compiler::CompileOptions;
use ns_tensor::Rounding;

/// Default of the mean relative error below which an output passes, as in the PyTorch/XLA benchmark verifier.
pub const DEFAULT_TOLERANCE: f64 = 0.02;

/// One comparison of a device with the reference. The same specification gives the same report, bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumericsSpec {
    /// Model in text form: `nn`, `matmult:n=64,loop_count=100`.
    pub model: String,
    /// Samples of one inference; the model's own default when absent.
    pub batch_size: Option<u32>,
    /// EC2 size whose NeuronCore computes the values.
    pub instance: String,
    /// Casts and optimisation level of the compiler.
    pub options: CompileOptions,
    /// How values are rounded to the cast type on the device. Weights are cast earlier, always to the nearest number.
    pub rounding: Rounding,
    /// Seed of weights, inputs and stochastic rounding.
    pub seed: u64,
    /// Mean relative error below which an output passes.
    pub tolerance: f64,
}

impl Default for NumericsSpec {
    fn default() -> Self {
        Self {
            model: "nn".to_owned(),
            batch_size: None,
            instance: "trn1.2xlarge".to_owned(),
            options: CompileOptions::default(),
            rounding: Rounding::Rne,
            seed: 0,
            tolerance: DEFAULT_TOLERANCE,
        }
    }
}
