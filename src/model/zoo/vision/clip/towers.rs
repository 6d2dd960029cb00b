//! The towers: embeddings, layers, normalisation.

use crate::nn::{Block, Conv2d, Embedding, LayerNorm, Positions, block, child};
use crate::zoo::text::extended_mask;
use crate::{Child, ConvArgs, Ctx, Entry, Init, Module, Parameter, Value};

use super::super::vit::{patches_to_tokens, with_token};
use super::ClipConfig;
use super::layers::{EPS, encoder};
use ns_base::Refusal;

pub(super) struct TextTransformer {
    embeddings: Child<Block>,
    encoder: Child<Block>,
    final_layer_norm: Child<LayerNorm>,
    causal: Parameter,
}

impl TextTransformer {
    pub(super) fn new(config: &ClipConfig) -> Self {
        Self {
            embeddings: Child::new("embeddings", text_embeddings(config)),
            encoder: Child::new("encoder", encoder(&config.text)),
            final_layer_norm: Child::new("final_layer_norm", LayerNorm::new(config.text.hidden, EPS)),
            causal: Parameter::buffer("causal_mask", [POSITIONS, POSITIONS], Init::CausalMask),
        }
    }
}

/// Entries of the position table.
const POSITIONS: u64 = 77;

impl Module for TextTransformer {
    fn class(&self) -> &str {
        "CLIPTextTransformer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ([ids, mask], Some(&seq)) = (inputs, inputs.first().and_then(|v| v.dims().get(1))) else {
            return Err(cx.wrong_inputs(2, inputs.len()));
        };
        let x = self.embeddings.call(cx, ids)?;
        let causal = cx.weight(&self.causal)?;
        let causal = cx.slice(&causal, 0, 0, seq)?;
        let causal = cx.slice(&causal, 1, 0, seq)?;
        let mask = extended_mask(cx, mask)?;
        let mask = cx.add(&mask, &causal)?;
        let x = self.encoder.call_with(cx, &[x, mask])?;
        let x = self.final_layer_norm.call(cx, &x)?;
        // The published code takes each prompt's end token; here it is the last token of each prompt.
        cx.select(&x, 1, seq.saturating_sub(1))
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.embeddings.entry(), self.encoder.entry(), self.final_layer_norm.entry()]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.causal]
    }
}

fn text_embeddings(config: &ClipConfig) -> Block {
    let children = [
        child("token_embedding", Embedding::new(config.vocab, config.text.hidden)),
        child("position_embedding", Positions::new(POSITIONS, config.text.hidden, 0)),
    ];
    block("CLIPTextEmbeddings", children, |cx, [tokens, positions], [ids]| {
        let x = tokens.call(cx, ids)?;
        let positions = positions.call(cx, ids)?;
        cx.add(&x, &positions)
    })
}

pub(super) fn vision_transformer(config: &ClipConfig) -> Block {
    let hidden = config.vision.hidden;
    let children = [
        child("embeddings", VisionEmbeddings::new(config)),
        child("pre_layrnorm", LayerNorm::new(hidden, EPS)),
        child("encoder", encoder(&config.vision)),
        child("post_layernorm", LayerNorm::new(hidden, EPS)),
    ];
    block("CLIPVisionTransformer", children, |cx, [embeddings, pre_layrnorm, encoder, post_layernorm], [x]| {
        let x = embeddings.call(cx, x)?;
        let x = pre_layrnorm.call(cx, &x)?;
        let x = encoder.call(cx, &x)?;
        let first = cx.select(&x, 1, 0)?;
        post_layernorm.call(cx, &first)
    })
}

struct VisionEmbeddings {
    class_embedding: Parameter,
    patch_embedding: Child<Conv2d>,
    position_embedding: Child<Positions>,
}

impl VisionEmbeddings {
    fn new(config: &ClipConfig) -> Self {
        let hidden = config.vision.hidden;
        let side = config.image / config.patch.max(1);
        let args = ConvArgs { stride: config.patch, ..ConvArgs::default() };
        Self {
            class_embedding: Parameter::new("class_embedding", [hidden], Init::Normal { std: 0.02 }),
            patch_embedding: Child::new("patch_embedding", Conv2d::new(3, hidden, config.patch, args).without_bias()),
            position_embedding: Child::new("position_embedding", Positions::new(side * side + 1, hidden, 0)),
        }
    }
}

impl Module for VisionEmbeddings {
    fn class(&self) -> &str {
        "CLIPVisionEmbeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.patch_embedding.call(cx, x)?;
        let patches = patches_to_tokens(cx, &x)?;
        let token = cx.weight(&self.class_embedding)?;
        let x = with_token(cx, &token, &patches)?;
        let positions = self.position_embedding.call(cx, &x)?;
        cx.add(&x, &positions)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.patch_embedding.entry(), self.position_embedding.entry()]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.class_embedding]
    }
}
