//! Flags of `neuronscope inspect`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `neuronscope inspect`.
#[derive(Debug, Args)]
pub(in crate::cli) struct InspectArgs {
    /// Model file: .pt2 of torch.export.save, ONNX, HLO (text or proto), StableHLO text
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// Size of an open dimension: batch=8,seq=128 (several)
    #[arg(long = "dim", value_name = "NAME=SIZE")]
    pub dims: Vec<String>,
    /// Also compile it for a NeuronCore of this instance and simulate one call
    #[arg(long, value_name = "INSTANCE")]
    pub instance: Option<String>,
    /// Inputs of the model, arrays of numpy.savez named in0, in1 .. (or by the inputs' names): compute it and compare
    #[arg(long, value_name = "FILE.npz", requires = "expect")]
    pub inputs: Option<PathBuf>,
    /// What it should give, arrays named out0, out1 ..
    #[arg(long, value_name = "FILE.npz", requires = "inputs")]
    pub expect: Option<PathBuf>,
    /// Largest difference of a result from what is expected, over the largest expected number
    #[arg(long, default_value_t = 1e-4)]
    pub tolerance: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
