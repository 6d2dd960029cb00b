//! Llama 2 and 3: sizes from each model's `config.json`.

use crate::zoo::{ModelInfo, ParamInfo, ParamKind, Settings};
use crate::{Distribution, InputSpec, Module};
use ns_base::convert::u64_to_u32;
use ns_tensor::{DType, Shape};

use super::{LlamaConfig, Reads, llama};

const LLAMA_2_7B: LlamaConfig = LlamaConfig {
    vocab: 32_000,
    hidden: 4096,
    layers: 32,
    heads: 32,
    kv_heads: 32,
    intermediate: 11_008,
    theta: 10_000.0,
    context: 2048,
    reads: Reads::LastToken,
};

const LLAMA_2_13B: LlamaConfig =
    LlamaConfig { hidden: 5120, layers: 40, heads: 40, kv_heads: 40, intermediate: 13_824, ..LLAMA_2_7B };

const LLAMA_3_8B: LlamaConfig =
    LlamaConfig { vocab: 128_256, kv_heads: 8, intermediate: 14_336, theta: 500_000.0, ..LLAMA_2_7B };

/// The parameters of a decoder of at most `max` tokens.
const fn parameters(max: u64, layers: u64) -> [ParamInfo; 2] {
    let context = ParamInfo {
        name: "context",
        help: "tokens in the cache of keys and values, the new one included; in training, tokens of a sequence",
        kind: ParamKind::Int { default: 2048, min: 1, max },
    };
    let layers = ParamInfo {
        name: "layers",
        help: "decoder layers; with fewer, a training step has room on one core",
        kind: ParamKind::Int { default: layers, min: 1, max: layers },
    };
    [context, layers]
}

fn decoder(config: LlamaConfig, settings: &Settings) -> Box<dyn Module> {
    let (context, layers) = (settings.int("context"), settings.int("layers"));
    let reads = if settings.in_training { Reads::Sequence } else { Reads::LastToken };
    Box::new(llama(&LlamaConfig { context, layers, reads, ..config }))
}

/// The last token of each sequence, a mask of ones over the whole cache, and the last position of it; in training, whole
/// sequences.
fn inputs(config: LlamaConfig, settings: &Settings, batch: u64) -> Vec<InputSpec> {
    let context = settings.int("context");
    let input = |dims: &[u64], distribution| InputSpec { shape: Shape::new(DType::S32, dims), distribution };
    let words = Distribution::Below(u64_to_u32(config.vocab));
    if settings.in_training {
        return vec![input(&[batch, context], words)];
    }
    vec![
        input(&[batch, 1], words),
        input(&[batch, context], Distribution::Constant(1)),
        input(&[1], Distribution::Constant(u64_to_u32(context.saturating_sub(1)))),
    ]
}

const BATCH_HELP: &str =
    "batch size b decodes one token of b sequences, each with its own cache; in training, it reads b whole sequences";

pub(in crate::zoo) static LLAMA_2_7B_INFO: ModelInfo = ModelInfo {
    id: "llama-2-7b",
    description: "Llama 2 7B: one token with a cache of keys and values",
    default_batch_size: 1,
    batch_help: BATCH_HELP,
    parameters: &parameters(4096, LLAMA_2_7B.layers),
    build: |s| decoder(LLAMA_2_7B, s),
    inputs: |s, batch| inputs(LLAMA_2_7B, s, batch),
};

pub(in crate::zoo) static LLAMA_2_13B_INFO: ModelInfo = ModelInfo {
    id: "llama-2-13b",
    description: "Llama 2 13B: one token with a cache of keys and values",
    default_batch_size: 1,
    batch_help: BATCH_HELP,
    parameters: &parameters(4096, LLAMA_2_13B.layers),
    build: |s| decoder(LLAMA_2_13B, s),
    inputs: |s, batch| inputs(LLAMA_2_13B, s, batch),
};

pub(in crate::zoo) static LLAMA_3_8B_INFO: ModelInfo = ModelInfo {
    id: "llama-3-8b",
    description: "Llama 3 8B: one token with a cache of keys and values, four heads to each of the cache's",
    default_batch_size: 1,
    batch_help: BATCH_HELP,
    parameters: &parameters(8192, LLAMA_3_8B.layers),
    build: |s| decoder(LLAMA_3_8B, s),
    inputs: |s, batch| inputs(LLAMA_3_8B, s, batch),
};
