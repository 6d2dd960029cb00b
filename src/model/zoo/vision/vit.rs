//! The vision transformer of Hugging Face (`transformers/models/vit/modeling_vit.py`): normalisation before each block.

use crate::nn::{Block, Conv2d, Gelu, Layer, LayerNorm, Linear, block, child, stack};
use crate::zoo::text::self_attention;
use crate::{ConvArgs, Ctx, Entry, Init, Module, Parameter, Value};
use ns_base::Refusal;

/// Sizes of a vision transformer.
#[derive(Clone, Copy, Debug)]
pub struct ViTConfig {
    /// Pixels of a side.
    pub image: u64,
    /// Pixels of a patch's side.
    pub patch: u64,
    /// Features of a token.
    pub hidden: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Features between the two linear layers of a layer.
    pub intermediate: u64,
    /// Classes of the result.
    pub classes: u64,
}

/// `layer_norm_eps` of the published configuration.
const EPS: f32 = 1e-12;

/// `ViTForImageClassification`
pub fn vit(config: &ViTConfig) -> Block {
    let classifier = child("classifier", Linear::new(config.hidden, config.classes));
    block("ViTForImageClassification", [child("vit", model(config)), classifier], |cx, [vit, classifier], [x]| {
        let x = vit.call(cx, x)?;
        let first = cx.select(&x, 1, 0)?;
        classifier.call(cx, &first)
    })
}

fn model(config: &ViTConfig) -> Block {
    let layers = (0..config.layers).map(|n| child(format!("layer.{n}"), layer(config)));
    let children = [
        child("embeddings", Embeddings::new(config)),
        child("encoder", stack("ViTEncoder", layers)),
        child("layernorm", LayerNorm::new(config.hidden, EPS)),
    ];
    stack("ViTModel", children)
}

/// Adds a class token before the patches, and positions.
struct Embeddings {
    cls_token: Parameter,
    position_embeddings: Parameter,
    patch_embeddings: Layer,
}

impl Embeddings {
    fn new(config: &ViTConfig) -> Self {
        let init = Init::Normal { std: 0.02 };
        let side = config.image / config.patch.max(1);
        Self {
            cls_token: Parameter::new("cls_token", [1, 1, config.hidden], init),
            position_embeddings: Parameter::new("position_embeddings", [1, side * side + 1, config.hidden], init),
            patch_embeddings: child("patch_embeddings", patch_embeddings(config)),
        }
    }
}

impl Module for Embeddings {
    fn class(&self) -> &str {
        "ViTEmbeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let patches = self.patch_embeddings.call(cx, x)?;
        let token = cx.weight(&self.cls_token)?;
        let x = with_token(cx, &token, &patches)?;
        let positions = cx.weight(&self.position_embeddings)?;
        cx.add(&x, &positions)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.patch_embeddings.entry()]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.cls_token, &self.position_embeddings]
    }
}

fn patch_embeddings(config: &ViTConfig) -> Block {
    let args = ConvArgs { stride: config.patch, ..ConvArgs::default() };
    let projection = child("projection", Conv2d::new(3, config.hidden, config.patch, args));
    block("ViTPatchEmbeddings", [projection], |cx, [projection], [x]| {
        let x = projection.call(cx, x)?;
        patches_to_tokens(cx, &x)
    })
}

/// `x.flatten(2).transpose(1, 2)`: `[b, features, h, w]` as `[b, h * w, features]`.
pub(super) fn patches_to_tokens(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    let x = cx.flatten(x, 2)?;
    cx.transpose(&x, 1, 2)
}

/// One token before the others, the same for every image.
pub(super) fn with_token(cx: &mut Ctx, token: &Value, x: &Value) -> Result<Value, Refusal> {
    let &[batch, _, features] = x.dims() else { return cx.view(x, &[]) };
    let token = cx.view(token, &[1, 1, features])?;
    let token = cx.expand(&token, &[batch, 1, features])?;
    cx.cat(&[&token, x], 1)
}

fn layer(config: &ViTConfig) -> Block {
    let (hidden, inner) = (config.hidden, config.intermediate);
    let activation = child("intermediate_act_fn", Gelu);
    let children = [
        child("layernorm_before", LayerNorm::new(hidden, EPS)),
        child("attention", attention(config)),
        child("layernorm_after", LayerNorm::new(hidden, EPS)),
        child("intermediate", stack("ViTIntermediate", [dense(hidden, inner), activation])),
        child("output", stack("ViTOutput", [dense(inner, hidden)])),
    ];
    block("ViTLayer", children, |cx, [before, attention, after, intermediate, output], [x]| {
        let normal = before.call(cx, x)?;
        let attended = attention.call(cx, &normal)?;
        let x = cx.add(&attended, x)?;
        let normal = after.call(cx, &x)?;
        let inner = intermediate.call(cx, &normal)?;
        let inner = output.call(cx, &inner)?;
        // The published code adds the residual inside ViTOutput.
        cx.add(&inner, &x)
    })
}

fn attention(config: &ViTConfig) -> Block {
    let inner = self_attention("ViTSelfAttention", config.hidden, config.heads);
    let output = stack("ViTSelfOutput", [dense(config.hidden, config.hidden)]);
    stack("ViTAttention", [child("attention", inner), child("output", output)])
}

fn dense(features: u64, out: u64) -> Layer {
    child("dense", Linear::new(features, out))
}
