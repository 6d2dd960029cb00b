//! The towers: embeddings, layers, normalisation.

use crate::nn::{Conv2d, Embedding, LayerNorm, Positions};
use crate::zoo::text::extended_mask;
use crate::{Child, ConvArgs, Ctx, Entry, Init, Module, Parameter, Value};

use super::super::vit::{patches_to_tokens, with_token};
use super::ClipConfig;
use super::layers::{ClipEncoder, EPS};
use ns_base::Refusal;

pub(super) struct TextTransformer {
    embeddings: Child<TextEmbeddings>,
    encoder: Child<ClipEncoder>,
    final_layer_norm: Child<LayerNorm>,
    causal: Parameter,
}

impl TextTransformer {
    pub(super) fn new(config: &ClipConfig) -> Self {
        let hidden = config.text.hidden;
        let embeddings = TextEmbeddings {
            token_embedding: Child::new("token_embedding", Embedding::new(config.vocab, hidden)),
            position_embedding: Child::new("position_embedding", Positions::new(POSITIONS, hidden, 0)),
        };
        Self {
            embeddings: Child::new("embeddings", embeddings),
            encoder: Child::new("encoder", ClipEncoder::new(&config.text)),
            final_layer_norm: Child::new("final_layer_norm", LayerNorm::new(hidden, EPS)),
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

struct TextEmbeddings {
    token_embedding: Child<Embedding>,
    position_embedding: Child<Positions>,
}

impl Module for TextEmbeddings {
    fn class(&self) -> &str {
        "CLIPTextEmbeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ids = cx.one_input(inputs)?;
        let x = self.token_embedding.call(cx, ids)?;
        let positions = self.position_embedding.call(cx, ids)?;
        cx.add(&x, &positions)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.token_embedding.entry(), self.position_embedding.entry()]
    }
}

pub(super) struct VisionTransformer {
    embeddings: Child<VisionEmbeddings>,
    pre_layrnorm: Child<LayerNorm>,
    encoder: Child<ClipEncoder>,
    post_layernorm: Child<LayerNorm>,
}

impl VisionTransformer {
    pub(super) fn new(config: &ClipConfig) -> Self {
        let hidden = config.vision.hidden;
        let side = config.image / config.patch.max(1);
        let args = ConvArgs { stride: config.patch, ..ConvArgs::default() };
        let embeddings = VisionEmbeddings {
            class_embedding: Parameter::new("class_embedding", [hidden], Init::Normal { std: 0.02 }),
            patch_embedding: Child::new("patch_embedding", Conv2d::new(3, hidden, config.patch, args).without_bias()),
            position_embedding: Child::new("position_embedding", Positions::new(side * side + 1, hidden, 0)),
        };
        Self {
            embeddings: Child::new("embeddings", embeddings),
            pre_layrnorm: Child::new("pre_layrnorm", LayerNorm::new(hidden, EPS)),
            encoder: Child::new("encoder", ClipEncoder::new(&config.vision)),
            post_layernorm: Child::new("post_layernorm", LayerNorm::new(hidden, EPS)),
        }
    }
}

impl Module for VisionTransformer {
    fn class(&self) -> &str {
        "CLIPVisionTransformer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.embeddings.call(cx, x)?;
        let x = self.pre_layrnorm.call(cx, &x)?;
        let x = self.encoder.call(cx, &x)?;
        let first = cx.select(&x, 1, 0)?;
        self.post_layernorm.call(cx, &first)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.embeddings.entry(), self.pre_layrnorm.entry(), self.encoder.entry(), self.post_layernorm.entry()]
    }
}

struct VisionEmbeddings {
    class_embedding: Parameter,
    patch_embedding: Child<Conv2d>,
    position_embedding: Child<Positions>,
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
