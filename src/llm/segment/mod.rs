//! The graphs between two collectives, of one core: attention with its norm, the feed-forward part with its norm, the head.

use ns_base::Refusal;
use ns_model::nn::{LayerNorm, Linear, RmsNorm};
use ns_model::{Child, Ctx, Entry, Graph, Module, Parameter, Value, trace};
use ns_tensor::kernels::BinaryOp;
use ns_tensor::{DType, Shape};

mod attention;
mod feed_forward;
mod latent;

use attention::Attention;
use feed_forward::{Expert, FeedForward, Head};
use latent::LatentAttention;

use super::config::{Activation, DecoderConfig, Norm, NormPlace};
use super::shard::Shard;

/// Added to mean squares and variances.
const EPS: f32 = 1e-5;

/// What one core runs between two collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Norm, queries, keys and values, attention of one new token to `bucket` positions, output product.
    Decode { batch: u64, bucket: u64 },
    /// The same for a whole prompt of `tokens` tokens a sequence.
    Prefill { batch: u64, tokens: u64, scores: Scores },
    /// The norms of a layer, for `rows` tokens.
    Norms { rows: u64 },
    /// Norm and feed-forward part of `rows` tokens; in a layer with experts their router, and what all tokens share.
    FeedForward { rows: u64 },
    /// One expert for `rows` tokens.
    Expert { rows: u64 },
    /// The feed-forward part of `rows` tokens, then `loads` experts one after another, each for `each` tokens and in `lines` descriptors:
    /// [`super::windows`] puts them together.
    Sparse { rows: u64, loads: u64, each: u64, lines: u64 },
    /// Last norm and the core's words for `rows` tokens.
    Head { rows: u64 },
}

/// How the scores of a prompt are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scores {
    /// Those of all tokens to all, at once.
    Whole,
    /// The same in pieces that stay on the core.
    Pieces,
    /// Pieces without the tokens after each.
    Causal,
    /// By a kernel whose time is measured: none here.
    Measured,
}

impl Segment {
    /// Its graph for a core's part of a decoder.
    /// Fails when shapes do not fit.
    pub fn graph(self, config: &DecoderConfig, shard: &Shard) -> Result<Graph, Refusal> {
        let dtype = if shard.is_fused { DType::Bf16 } else { DType::F32 };
        let row = |rows: u64| Shape::new(dtype, [rows, shard.hidden]);
        match self {
            Self::Decode { batch, bucket } => {
                let (angles, mask) = (Shape::f32([1, 1, rotated(shard)]), Shape::f32([1, bucket]));
                let inputs = [row(batch), angles.clone(), angles, mask.clone(), mask];
                match shard.latent {
                    Some(latent) => trace(&LatentAttention::new(config, shard, self, latent), &inputs),
                    None => trace(&Attention::new(config, shard, self), &inputs),
                }
            }
            Self::Prefill { batch, tokens, scores } => {
                let angles = Shape::f32([1, tokens, rotated(shard)]);
                let mut inputs = vec![row(batch * tokens), angles.clone(), angles];
                inputs.extend((scores == Scores::Pieces).then(|| Shape::f32([1, tokens])));
                match shard.latent {
                    Some(latent) => trace(&LatentAttention::new(config, shard, self, latent), &inputs),
                    None => trace(&Attention::new(config, shard, self), &inputs),
                }
            }
            Self::Norms { rows } => trace(&Norms(AnyNorm::of_layer(config)), &[row(rows)]),
            Self::FeedForward { rows } | Self::Sparse { rows, .. } => {
                trace(&FeedForward::new(config, shard), &[row(rows)])
            }
            Self::Expert { rows } => trace(&Expert::new(config, shard), &[row(rows)]),
            Self::Head { rows } => trace(&Head::new(config, shard), &[row(rows)]),
        }
    }
}

/// Features of a head that are rotated.
fn rotated(shard: &Shard) -> u64 {
    shard.latent.map_or(shard.head_size, |l| l.rotated)
}

/// Either norm.
enum AnyNorm {
    Rms(RmsNorm),
    Layer(LayerNorm),
}

/// Which part of a layer a segment is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Attention,
    FeedForward,
    Head,
}

impl AnyNorm {
    fn child(config: &DecoderConfig, name: &str, features: u64) -> Child<Self> {
        Child::new(
            name,
            match config.norm {
                Norm::Rms => Self::Rms(RmsNorm::new(features, EPS)),
                Norm::Layer | Norm::LayerWeight => Self::Layer(LayerNorm::new(features, EPS)),
            },
        )
    }

    /// The norms at the start of a segment: that after the part before, where there is one, and that before its own.
    fn before(config: &DecoderConfig, part: Part) -> Vec<Child<Self>> {
        let own = match part {
            Part::Attention => "input_layernorm",
            Part::FeedForward => "post_attention_layernorm",
            Part::Head => "norm",
        };
        let has_own = match part {
            Part::Attention => config.norm_place != NormPlace::After,
            Part::FeedForward => matches!(config.norm_place, NormPlace::Before | NormPlace::Around),
            Part::Head => config.has_last_norm,
        };
        let has_other = matches!(config.norm_place, NormPlace::Around | NormPlace::After);
        let norms = [("norm_of_part_before", has_other), (own, has_own)];
        norms.iter().filter(|(_, has)| *has).map(|(name, _)| Self::child(config, name, config.hidden)).collect()
    }

    /// The same of a segment, which has none where they are elsewhere.
    fn of_segment(config: &DecoderConfig, shard: &Shard, part: Part) -> Vec<Child<Self>> {
        if shard.is_fused { Vec::new() } else { Self::before(config, part) }
    }

    /// Those of both parts of a layer.
    fn of_layer(config: &DecoderConfig) -> Vec<Child<Self>> {
        [Part::Attention, Part::FeedForward].into_iter().flat_map(|part| Self::before(config, part)).collect()
    }

    fn inner(&self) -> &dyn Module {
        match self {
            Self::Rms(norm) => norm,
            Self::Layer(norm) => norm,
        }
    }
}

impl Module for AnyNorm {
    fn class(&self) -> &str {
        self.inner().class()
    }
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        self.inner().forward(cx, inputs)
    }
    fn parameters(&self) -> Vec<&Parameter> {
        self.inner().parameters()
    }
}

/// Norms one after another.
fn normed(cx: &mut Ctx, norms: &[Child<AnyNorm>], x: &Value) -> Result<Value, Refusal> {
    let x = cx.to(x, DType::F32)?;
    norms.iter().try_fold(x, |x, norm| norm.call(cx, &x))
}

/// The norms of a layer by themselves.
struct Norms(Vec<Child<AnyNorm>>);

impl Module for Norms {
    fn class(&self) -> &str {
        "Norms"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        normed(cx, &self.0, x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.0.iter().map(Child::entry).collect()
    }
}

/// The function of a feed-forward part.
fn activated(cx: &mut Ctx, activation: Activation, x: &Value) -> Result<Value, Refusal> {
    match activation {
        Activation::Silu => cx.silu(x),
        Activation::Gelu => cx.gelu(x),
        Activation::Relu => cx.relu(x),
        Activation::SquaredRelu => {
            let x = cx.relu(x)?;
            cx.mul(&x, &x)
        }
    }
}

/// `cap * tanh(x / cap)`.
fn capped(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    let x = cx.scalar(BinaryOp::Mul, x, 1.0 / CAP)?;
    let x = cx.tanh(&x)?;
    cx.scalar(BinaryOp::Mul, &x, CAP)
}

/// A cap of scores and words, of which only the operations take time.
const CAP: f32 = 50.0;

/// Sequences of the pieces of a batch: the rows of scores of a piece lie on the partitions together.
fn pieces(batch: u64, heads: u64) -> Vec<u64> {
    let most = (PARTITIONS / heads.max(1)).max(1);
    even(batch, batch.div_ceil(most))
}

/// A number in so many parts that differ by at most one.
fn even(all: u64, parts: u64) -> Vec<u64> {
    let parts = parts.max(1);
    (0..parts).map(|n| all / parts + u64::from(n < all % parts)).collect()
}

/// The longest cache whose keys the array holds, positions.
const SHORT_CACHE: u64 = 128;

/// Rows that a pass of the softmax serves.
const PARTITIONS: u64 = 128;

/// A result as it is stored: in 16 bits between the kernels of a prompt.
fn stored(cx: &mut Ctx, out: Value, shard: &Shard) -> Result<Value, Refusal> {
    if shard.is_fused { cx.to(&out, DType::Bf16) } else { Ok(out) }
}

fn linear(name: &str, from: u64, to: u64, bias: bool) -> Child<Linear> {
    Child::new(name, Linear::with_bias(from, to, bias))
}
