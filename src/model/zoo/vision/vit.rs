//! The vision transformer of Hugging Face (`transformers/models/vit/modeling_vit.py`): normalisation before each block.

use crate::nn::{Conv2d, Gelu, LayerNorm, Linear};
use crate::zoo::text::SelfAttention;
use crate::{Child, ConvArgs, Ctx, Entry, Init, Module, Parameter, Value};
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

/// `ViTForImageClassification`
pub struct ViT {
    vit: Child<ViTModel>,
    classifier: Child<Linear>,
}

impl ViT {
    /// A classifier of these sizes.
    #[must_use]
    pub fn new(config: &ViTConfig) -> Self {
        Self {
            vit: Child::new("vit", ViTModel::new(config)),
            classifier: Child::new("classifier", Linear::new(config.hidden, config.classes)),
        }
    }
}

impl Module for ViT {
    fn class(&self) -> &str {
        "ViTForImageClassification"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.vit.call(cx, x)?;
        let first = cx.select(&x, 1, 0)?;
        self.classifier.call(cx, &first)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.vit.entry(), self.classifier.entry()]
    }
}

struct ViTModel {
    embeddings: Child<Embeddings>,
    encoder: Child<Encoder>,
    layernorm: Child<LayerNorm>,
}

impl ViTModel {
    fn new(config: &ViTConfig) -> Self {
        let layer = |n| Child::new(format!("layer.{n}"), Layer::new(config));
        Self {
            embeddings: Child::new("embeddings", Embeddings::new(config)),
            encoder: Child::new("encoder", Encoder { layers: (0..config.layers).map(layer).collect() }),
            layernorm: Child::new("layernorm", LayerNorm::new(config.hidden, EPS)),
        }
    }
}

/// `layer_norm_eps` of the published configuration.
const EPS: f32 = 1e-12;

impl Module for ViTModel {
    fn class(&self) -> &str {
        "ViTModel"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.embeddings.call(cx, x)?;
        let x = self.encoder.call(cx, &x)?;
        self.layernorm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.embeddings.entry(), self.encoder.entry(), self.layernorm.entry()]
    }
}

/// Adds a class token before the patches, and positions.
struct Embeddings {
    cls_token: Parameter,
    position_embeddings: Parameter,
    patch_embeddings: Child<PatchEmbeddings>,
}

impl Embeddings {
    fn new(config: &ViTConfig) -> Self {
        let init = Init::Normal { std: 0.02 };
        let side = config.image / config.patch.max(1);
        let args = ConvArgs { stride: config.patch, ..ConvArgs::default() };
        let projection = Child::new("projection", Conv2d::new(3, config.hidden, config.patch, args));
        Self {
            cls_token: Parameter::new("cls_token", [1, 1, config.hidden], init),
            position_embeddings: Parameter::new("position_embeddings", [1, side * side + 1, config.hidden], init),
            patch_embeddings: Child::new("patch_embeddings", PatchEmbeddings { projection }),
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

struct PatchEmbeddings {
    projection: Child<Conv2d>,
}

impl Module for PatchEmbeddings {
    fn class(&self) -> &str {
        "ViTPatchEmbeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.projection.call(cx, x)?;
        patches_to_tokens(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.projection.entry()]
    }
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

struct Encoder {
    layers: Vec<Child<Layer>>,
}

impl Module for Encoder {
    fn class(&self) -> &str {
        "ViTEncoder"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut x = cx.one_input(inputs)?.clone();
        for layer in &self.layers {
            x = layer.call(cx, &x)?;
        }
        Ok(x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.layers.iter().map(Child::entry).collect()
    }
}

struct Layer {
    layernorm_before: Child<LayerNorm>,
    attention: Child<Attention>,
    layernorm_after: Child<LayerNorm>,
    intermediate: Child<Dense>,
    output: Child<Dense>,
}

impl Layer {
    fn new(config: &ViTConfig) -> Self {
        let inner = SelfAttention::new("ViTSelfAttention".to_owned(), config.hidden, config.heads);
        let attention = Attention {
            attention: Child::new("attention", inner),
            output: Child::new("output", Dense::new("ViTSelfOutput", config.hidden, config.hidden, false)),
        };
        Self {
            layernorm_before: Child::new("layernorm_before", LayerNorm::new(config.hidden, EPS)),
            attention: Child::new("attention", attention),
            layernorm_after: Child::new("layernorm_after", LayerNorm::new(config.hidden, EPS)),
            intermediate: Child::new(
                "intermediate",
                Dense::new("ViTIntermediate", config.hidden, config.intermediate, true),
            ),
            output: Child::new("output", Dense::new("ViTOutput", config.intermediate, config.hidden, false)),
        }
    }
}

impl Module for Layer {
    fn class(&self) -> &str {
        "ViTLayer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let normal = self.layernorm_before.call(cx, x)?;
        let attended = self.attention.call(cx, &normal)?;
        let x = cx.add(&attended, x)?;
        let normal = self.layernorm_after.call(cx, &x)?;
        let inner = self.intermediate.call(cx, &normal)?;
        let inner = self.output.call(cx, &inner)?;
        // The published code adds the residual inside ViTOutput.
        cx.add(&inner, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![
            self.layernorm_before.entry(),
            self.attention.entry(),
            self.layernorm_after.entry(),
            self.intermediate.entry(),
            self.output.entry(),
        ]
    }
}

struct Attention {
    attention: Child<SelfAttention>,
    output: Child<Dense>,
}

impl Module for Attention {
    fn class(&self) -> &str {
        "ViTAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.attention.call(cx, x)?;
        self.output.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.attention.entry(), self.output.entry()]
    }
}

/// A linear layer in a module of its own, with or without GELU after it.
struct Dense {
    class: &'static str,
    dense: Child<Linear>,
    activation: Option<Child<Gelu>>,
}

impl Dense {
    fn new(class: &'static str, features: u64, out: u64, activation: bool) -> Self {
        Self {
            class,
            dense: Child::new("dense", Linear::new(features, out)),
            activation: activation.then(|| Child::new("intermediate_act_fn", Gelu::activation())),
        }
    }
}

impl Module for Dense {
    fn class(&self) -> &str {
        self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.dense.call(cx, x)?;
        match &self.activation {
            Some(activation) => activation.call(cx, &x),
            None => Ok(x),
        }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        std::iter::once(self.dense.entry()).chain(self.activation.as_ref().map(Child::entry)).collect()
    }
}
