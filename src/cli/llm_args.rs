//! Flags of the commands about language models.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::args::write_format;
use ns_formats::WriteFormat;
use ns_llm::{Route, Weights};

/// The model: a name, or a file.
#[derive(Debug, ClapArgs)]
pub(super) struct LlmModelArgs {
    /// A language model by name: llama-2-13b, llama-3-8b, mistral-7b, qwen2.5-7b, opt-13b ...
    #[arg(long)]
    pub model: Option<String>,
    /// The config.json of a decoder instead
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub model_config: Option<PathBuf>,
}

/// Sizes of the work.
#[derive(Debug, ClapArgs)]
pub(super) struct LlmSizeArgs {
    /// Sequences of a batch
    #[arg(long, default_value_t = 1)]
    pub batch: u64,
    /// Tokens of each prompt
    #[arg(long, default_value_t = 128)]
    pub input: u64,
    /// New tokens of each sequence
    #[arg(long, default_value_t = 1_024)]
    pub output: u64,
    /// Storage of the weights: bf16 or int8
    #[arg(long, default_value = "bf16", value_parser = weights)]
    pub weights: Weights,
    /// Physical cores of a logical core (Trn2: 1 or 2)
    #[arg(long)]
    pub lnc: Option<u32>,
    /// What serves the model: tnx (transformers-neuronx: Inf2 and Trn1 when absent), nxdi (Trn2 when absent), vllm
    #[arg(long, value_parser = route)]
    pub route: Option<Route>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct GenerateArgs {
    #[command(flatten)]
    pub model: LlmModelArgs,
    /// Instance size
    #[arg(long, default_value = "inf2.48xlarge")]
    pub instance: String,
    /// Tensor parallel degree: cores that share the model; the instance's most when absent
    #[arg(long)]
    pub tp: Option<u32>,
    #[command(flatten)]
    pub size: LlmSizeArgs,
    /// Positions of the compiled caches; powers of two from 128 when absent
    #[arg(long, value_delimiter = ',')]
    pub buckets: Vec<u64>,
    /// Requests a second that arrive at random: continuous batching of at most --batch sequences
    #[arg(long, value_name = "RATE")]
    pub request_rate: Option<f64>,
    /// Requests to serve with --request-rate
    #[arg(long, default_value_t = 200, requires = "request_rate")]
    pub requests: u32,
    /// Limit of the time to the first token for goodput, milliseconds
    #[arg(long, value_name = "MS", requires = "request_rate")]
    pub max_ttft_ms: Option<f64>,
    /// Limit of the time of a token for goodput, milliseconds
    #[arg(long, value_name = "MS", requires = "request_rate")]
    pub max_tpot_ms: Option<f64>,
    /// Write the median token as a timeline: layers, collectives, and the engines and DMA queues of one layer
    #[arg(long, value_name = "FILE", conflicts_with = "request_rate")]
    pub trace: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "trace")]
    pub trace_export: WriteFormat,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct FitArgs {
    /// Without a model: every published one, and at which degree it fits on which instance
    #[command(flatten)]
    pub model: LlmModelArgs,
    #[command(flatten)]
    pub size: LlmSizeArgs,
    /// Also simulate every place where it fits, and name the cheapest with first tokens at most this late, or the nearest, milliseconds
    #[arg(long, value_name = "MS")]
    pub max_ttft_ms: Option<f64>,
    /// The same for the time of a token, milliseconds
    #[arg(long, value_name = "MS")]
    pub max_tpot_ms: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn route(text: &str) -> Result<Route, String> {
    text.parse().map_err(|e: ns_base::Refusal| e.to_string())
}

fn weights(text: &str) -> Result<Weights, String> {
    text.parse().map_err(|e: ns_base::Refusal| e.to_string())
}
