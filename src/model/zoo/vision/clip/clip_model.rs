//! CLIP of Hugging Face (`transformers/models/clip/modeling_clip.py`): an image tower and a text tower.

use crate::nn::{Block, Linear};
use crate::zoo::text::tokens;
use crate::zoo::{ModelInfo, Settings};
use crate::{Child, Ctx, Entry, Init, InputSpec, Module, Parameter, Value};
use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::super::networks::images;
use super::towers::{TextTransformer, vision_transformer};

/// The prompts of the published benchmark: `a photo of a ...` for each class of CIFAR-100, on every call.
const PROMPTS: u64 = 100;
/// Tokens of the longest prompt, to which the others are padded.
const PROMPT_TOKENS: u64 = 9;

/// Sizes of one tower.
#[derive(Clone, Copy, Debug)]
pub struct Tower {
    /// Features of a token.
    pub hidden: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Features between the two linear layers of a layer.
    pub intermediate: u64,
}

/// Sizes of a model.
#[derive(Clone, Copy, Debug)]
pub struct ClipConfig {
    pub vision: Tower,
    pub text: Tower,
    /// Pixels of an image's side.
    pub image: u64,
    /// Pixels of a patch's side.
    pub patch: u64,
    /// Entries of the token table.
    pub vocab: u64,
    /// Features of both results.
    pub projection: u64,
}

const BASE: ClipConfig = ClipConfig {
    vision: Tower { hidden: 768, layers: 12, heads: 12, intermediate: 3072 },
    text: Tower { hidden: 512, layers: 12, heads: 8, intermediate: 2048 },
    image: 224,
    patch: 32,
    vocab: 49_408,
    projection: 512,
};

const LARGE: ClipConfig = ClipConfig {
    vision: Tower { hidden: 1024, layers: 24, heads: 16, intermediate: 4096 },
    text: Tower { hidden: 768, layers: 12, heads: 12, intermediate: 3072 },
    patch: 14,
    projection: 768,
    ..BASE
};

const fn info(id: &'static str, description: &'static str, build: fn(&Settings) -> Box<dyn Module>) -> ModelInfo {
    ModelInfo {
        id,
        description,
        default_batch_size: 1,
        batch_help: "batch size b gives b images, [b, 3, 224, 224], and 100 prompts of 9 tokens at any batch size",
        parameters: &[],
        build,
        inputs: |_, batch| {
            let text = tokens(PROMPTS, PROMPT_TOKENS, BASE.vocab, None);
            images(batch).into_iter().chain(text).collect::<Vec<InputSpec>>()
        },
    }
}

pub(in crate::zoo) static CLIP_BASE: ModelInfo =
    info("openai/clip-vit-base-patch32", "CLIP ViT-B/32: image and text towers, images against 100 prompts", |_| {
        Box::new(Clip::new(&BASE))
    });

pub(in crate::zoo) static CLIP_LARGE: ModelInfo =
    info("openai/clip-vit-large-patch14", "CLIP ViT-L/14: image and text towers, images against 100 prompts", |_| {
        Box::new(Clip::new(&LARGE))
    });

/// `CLIPModel`: similarities per image and per text, and both embeddings.
pub struct Clip {
    text_model: Child<TextTransformer>,
    vision_model: Child<Block>,
    visual_projection: Child<Linear>,
    text_projection: Child<Linear>,
    logit_scale: Parameter,
}

impl Clip {
    /// A model of these sizes.
    pub fn new(config: &ClipConfig) -> Self {
        let projection = |tower: &Tower| Linear::with_bias(tower.hidden, config.projection, false);
        Self {
            text_model: Child::new("text_model", TextTransformer::new(config)),
            vision_model: Child::new("vision_model", vision_transformer(config)),
            visual_projection: Child::new("visual_projection", projection(&config.vision)),
            text_projection: Child::new("text_projection", projection(&config.text)),
            // logit_scale_init_value
            logit_scale: Parameter::new("logit_scale", [], Init::Constant(2.6592)),
        }
    }
}

impl Module for Clip {
    fn class(&self) -> &str {
        "CLIPModel"
    }

    /// Inputs: images, ids of prompts, attention mask of prompts.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [images, ids, mask] = inputs else {
            return Err(cx.wrong_inputs(3, inputs.len()));
        };
        let image = self.vision_model.call(cx, images)?;
        let text = self.text_model.call_with(cx, &[ids.clone(), mask.clone()])?;
        let image = self.visual_projection.call(cx, &image)?;
        let text = self.text_projection.call(cx, &text)?;
        let image = unit_length(cx, &image)?;
        let text = unit_length(cx, &text)?;
        let scale = cx.weight(&self.logit_scale)?;
        let scale = cx.unary(UnaryOp::Exp, &scale)?;
        let turned = cx.transpose(&image, 0, 1)?;
        let per_text = cx.matmul(&text, &turned)?;
        let per_text = cx.mul(&per_text, &scale)?;
        let per_image = cx.transpose(&per_text, 0, 1)?;
        cx.tuple(&[&per_image, &per_text, &text, &image])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![
            self.text_model.entry(),
            self.vision_model.entry(),
            self.visual_projection.entry(),
            self.text_projection.entry(),
        ]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.logit_scale]
    }
}

/// `x / x.norm(p=2, dim=-1, keepdim=True)`; the sum of squares is their mean times their number.
fn unit_length(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    let features = x.dims().last().copied().unwrap_or(1);
    let square = cx.mul(x, x)?;
    let mean = cx.mean_dims(&square, &[usize_to_u32(x.dims().len()).saturating_sub(1)], true)?;
    let sum = cx.scalar(BinaryOp::Mul, &mean, u64_to_f32(features))?;
    let norm = cx.unary(UnaryOp::Sqrt, &sum)?;
    cx.binary(BinaryOp::Div, x, &norm)
}
