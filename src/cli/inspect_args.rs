//! Flags of `neuronscope inspect`.

use std::path::PathBuf;

use clap::Args;
use ns_base::Refusal;

use super::model_args::{ModelFileArg, ModelFileFlags};
use super::option_args::{Choice, one_of};
use ns_session::{InspectView, size_name};

/// Flags of `neuronscope inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub file: ModelFileArg,
    /// Model file: .pt2 of torch.export.save, TorchScript, ONNX, HLO (text or proto), StableHLO text; or a model of the zoo
    #[arg(long, value_name = "FILE", required_unless_present = "model_file")]
    pub model: Option<String>,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
    /// Also compile the model for a NeuronCore of this instance, or of this family, and simulate one call
    #[arg(long, value_name = "INSTANCE", value_parser = |name: &str| Ok::<_, Refusal>(size_name(name).to_owned()))]
    pub instance: Option<String>,
    /// Compare the throughput with that of a model of the zoo, such as bert-base-uncased:seq=128, instead of printing what the file holds
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["inputs", "json"])]
    pub beside: Option<String>,
    /// Batch sizes of --beside
    #[arg(long, value_name = "LIST", default_value = "1,8", requires = "beside")]
    pub batch_sizes: String,
    /// Batch size [default: the model's own]
    #[arg(long, value_name = "N")]
    pub batch: Option<u32>,
    /// Modules and operators with their times on a core: as a tree, as a table, or what each pass of the compiler did [default for a model of
    /// the zoo: the tree]
    #[arg(long, value_parser = one_of(VIEWS))]
    pub view: Option<InspectView>,
    /// Write a picture of the modules and operators
    #[arg(long, value_name = "FILE.svg")]
    pub graph: Option<PathBuf>,
    #[command(flatten)]
    pub arrays: ArraysArgs,
    /// Largest difference of a result from the expected values, divided by the largest expected number [default: 0.0001]
    #[arg(long)]
    pub tolerance: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What is printed of a model's modules and operators.
const VIEWS: &[Choice<InspectView>] = &[
    ("tree", "Modules and operators, one below the other", InspectView::Graph),
    ("table", "All operators", InspectView::Table),
    ("passes", "What each pass of the compiler did", InspectView::Passes),
];

/// Arrays of inputs and expected outputs for computing a model file.
#[derive(Debug, Default, Args)]
pub(crate) struct ArraysArgs {
    /// Inputs of the model file, arrays of numpy.savez named in0, in1 .. (or by the inputs' names): compute the model and compare the results
    #[arg(long, value_name = "FILE.npz")]
    pub inputs: Option<PathBuf>,
    /// Expected results, arrays named out0, out1 ..
    #[arg(long, value_name = "FILE.npz", requires = "inputs")]
    pub expect: Option<PathBuf>,
}
