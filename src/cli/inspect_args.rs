//! Flags of `neuronscope inspect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::model_args::{BroughtArgs, ModelFileArg};
use crate::session::InspectView;

/// Flags of `neuronscope inspect`.
#[derive(Debug, Args)]
pub(in crate::cli) struct InspectArgs {
    #[command(flatten)]
    pub file: ModelFileArg,
    /// Model file: .pt2 of torch.export.save, TorchScript, ONNX, HLO (text or proto), StableHLO text; or a model of the zoo
    #[arg(long, value_name = "FILE", required_unless_present = "model_file")]
    pub model: Option<String>,
    #[command(flatten)]
    pub brought: BroughtArgs,
    /// Also compile it for a NeuronCore of this instance and simulate one call
    #[arg(long, value_name = "INSTANCE")]
    pub instance: Option<String>,
    /// Print the throughput beside that of a model of the zoo, as in bert-base-uncased:seq=128, in place of what the file holds
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["inputs", "json"])]
    pub beside: Option<String>,
    /// Batch sizes of --beside
    #[arg(long, value_name = "LIST", default_value = "1,8", requires = "beside")]
    pub batch_sizes: String,
    /// Batch size; the model's own when absent
    #[arg(long, value_name = "N")]
    pub batch: Option<u32>,
    /// Modules and operators with their times on a core: as a tree, as a table, or what each pass of the compiler did; of a model of
    /// the zoo the tree, when absent
    #[arg(long)]
    pub view: Option<InspectViewArg>,
    /// Write a picture of the modules and operators
    #[arg(long, value_name = "FILE.svg")]
    pub graph: Option<PathBuf>,
    #[command(flatten)]
    pub arrays: ArraysArgs,
    /// Largest difference of a result from what is expected, over the largest expected number [default: 0.0001]
    #[arg(long)]
    pub tolerance: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What is printed of a model's modules and operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InspectViewArg {
    /// Modules and operators, one below the other.
    Tree,
    /// All operators.
    Table,
    /// What each pass of the compiler did.
    Passes,
}

impl InspectViewArg {
    /// The view's name in a session.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tree => InspectView::Graph.key(),
            Self::Table => InspectView::Table.key(),
            Self::Passes => InspectView::Passes.key(),
        }
    }
}

/// Arrays that a model file is computed with and compared to.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct ArraysArgs {
    /// Inputs of the model file, arrays of numpy.savez named in0, in1 .. (or by the inputs' names): compute it and compare
    #[arg(long, value_name = "FILE.npz", requires = "expect")]
    pub inputs: Option<PathBuf>,
    /// What it should give, arrays named out0, out1 ..
    #[arg(long, value_name = "FILE.npz", requires = "inputs")]
    pub expect: Option<PathBuf>,
}
