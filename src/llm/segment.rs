//! The graphs between two collectives, of one core: attention with its norm, the feed-forward part with its norm, the head.

use ns_base::convert::u64_to_f32;
use ns_base::{Refusal, refuse};
use ns_model::nn::{LayerNorm, Linear, RmsNorm};
use ns_model::{Child, Ctx, Entry, Graph, Init, Module, Parameter, Value, trace};
use ns_tensor::Shape;
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::config::{DecoderConfig, Mlp, Norm};
use super::shard::Shard;

/// Added to mean squares and variances.
const EPS: f32 = 1e-5;

/// What one core runs between two collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Norm, queries, keys and values, attention of one new token to `bucket` positions, output product.
    Decode { batch: u64, bucket: u64 },
    /// The same for a whole prompt of `tokens` tokens a sequence.
    Prefill { batch: u64, tokens: u64 },
    /// Norm and feed-forward part of `rows` tokens.
    FeedForward { rows: u64 },
    /// Last norm and the core's words for `rows` tokens.
    Head { rows: u64 },
}

impl Segment {
    /// Its graph for a core's part of a decoder.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn graph(self, config: &DecoderConfig, shard: &Shard) -> Result<Graph, Refusal> {
        let row = |rows: u64| Shape::f32([rows, shard.hidden]);
        match self {
            Self::Decode { batch, bucket } => {
                let (angles, mask) = (Shape::f32([1, 1, shard.head_size]), Shape::f32([1, bucket]));
                let inputs = [row(batch), angles.clone(), angles, mask.clone(), mask];
                trace(&Attention::new(config, shard, self), &inputs)
            }
            Self::Prefill { batch, tokens } => {
                let angles = Shape::f32([1, tokens, shard.head_size]);
                trace(&Attention::new(config, shard, self), &[row(batch * tokens), angles.clone(), angles])
            }
            Self::FeedForward { rows } => trace(&FeedForward::new(config, shard), &[row(rows)]),
            Self::Head { rows } => trace(&Head::new(config, shard), &[row(rows)]),
        }
    }
}

/// Either norm.
enum AnyNorm {
    Rms(RmsNorm),
    Layer(LayerNorm),
}

impl AnyNorm {
    fn child(config: &DecoderConfig, name: &str, features: u64) -> Child<Self> {
        Child::new(
            name,
            match config.norm {
                Norm::Rms => Self::Rms(RmsNorm::new(features, EPS)),
                Norm::Layer => Self::Layer(LayerNorm::new(features, EPS)),
            },
        )
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

fn linear(name: &str, from: u64, to: u64, bias: bool) -> Child<Linear> {
    Child::new(name, Linear::with_bias(from, to, bias))
}

struct Attention {
    norm: Child<AnyNorm>,
    q_proj: Child<Linear>,
    k_proj: Child<Linear>,
    v_proj: Child<Linear>,
    o_proj: Child<Linear>,
    head_norms: Option<[Child<RmsNorm>; 2]>,
    k_cache: Parameter,
    v_cache: Parameter,
    shard: Shard,
    of: Segment,
    rotates: bool,
}

impl Attention {
    fn new(config: &DecoderConfig, shard: &Shard, of: Segment) -> Self {
        let (q, kv) = (shard.heads * shard.head_size, shard.kv_heads * shard.head_size);
        let (batch, bucket) = match of {
            Segment::Decode { batch, bucket } => (batch, bucket),
            _ => (1, 1),
        };
        let cache =
            |name| Parameter::buffer(name, [batch, shard.kv_heads, bucket, shard.head_size], Init::Normal { std: 1.0 });
        let head_norm = |name: &str| Child::new(name, RmsNorm::new(shard.head_size, EPS));
        Self {
            norm: AnyNorm::child(config, "input_layernorm", shard.hidden),
            q_proj: linear("q_proj", shard.hidden, q, config.bias.qkv),
            k_proj: linear("k_proj", shard.hidden, kv, config.bias.qkv),
            v_proj: linear("v_proj", shard.hidden, kv, config.bias.qkv),
            o_proj: linear("o_proj", q, shard.hidden, config.bias.output),
            head_norms: config.qk_norm.then(|| [head_norm("q_norm"), head_norm("k_norm")]),
            k_cache: cache("k_cache"),
            v_cache: cache("v_cache"),
            shard: *shard,
            of,
            rotates: config.positions == super::config::Positions::Rotary,
        }
    }

    /// One token of each sequence. The cache holds the new token already: the device writes it in place.
    fn decode(
        &self,
        cx: &mut Ctx,
        [q, k, v]: [Value; 3],
        [mask, hidden]: [&Value; 2],
        batch: u64,
    ) -> Result<Value, Refusal> {
        let Shard { heads, kv_heads, head_size, .. } = self.shard;
        let (keys, values) = (cx.weight(&self.k_cache)?, cx.weight(&self.v_cache)?);
        let group = heads / kv_heads.max(1);
        let q = cx.view(&q, &[batch, kv_heads, group, head_size])?;
        let keys = cx.transpose(&keys, 2, 3)?;
        let scores = cx.matmul(&q, &keys)?;
        // Rows of batch and heads on the partitions: a pass serves all of them.
        let bucket = mask.dims().last().copied().unwrap_or(1);
        let rows = cx.view(&scores, &[batch * heads, bucket])?;
        let rows = cx.scalar(BinaryOp::Mul, &rows, 1.0 / u64_to_f32(head_size).sqrt())?;
        // `where(mask, scores, least)` as two passes: the mask sets scores to 0, the sum sets those to the least number.
        let rows = cx.mul(&rows, mask)?;
        let rows = cx.add(&rows, hidden)?;
        let weights = cx.softmax(&rows, 1)?;
        let weights = cx.view(&weights, &[batch, kv_heads, group, bucket])?;
        let context = cx.matmul(&weights, &values)?;
        let context = cx.view(&context, &[batch, heads * head_size])?;
        let out = self.o_proj.call(cx, &context)?;
        cx.tuple(&[&out, &k, &v])
    }

    /// All tokens of each prompt. The triangle above the diagonal costs like the rest.
    fn prefill(&self, cx: &mut Ctx, [q, k, v]: [Value; 3], batch: u64, tokens: u64) -> Result<Value, Refusal> {
        let Shard { heads, kv_heads, head_size, .. } = self.shard;
        let group = heads / kv_heads.max(1);
        let q = cx.view(&q, &[batch, kv_heads, group * tokens, head_size])?;
        let scale = (BinaryOp::Mul, 1.0 / u64_to_f32(head_size).sqrt());
        let context = cx.attention([&q, &k, &v], Some(scale), None)?;
        let context = cx.view(&context, &[batch, heads, tokens, head_size])?;
        let context = cx.permute(&context, &[0, 2, 1, 3])?;
        let context = cx.view(&context, &[batch * tokens, heads * head_size])?;
        let out = self.o_proj.call(cx, &context)?;
        cx.tuple(&[&out, &k, &v])
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "Attention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, cos, sin, mask @ ..] = inputs else { return Err(cx.wrong_inputs(3, inputs.len())) };
        let Shard { heads, kv_heads, head_size, .. } = self.shard;
        let (batch, tokens) = match self.of {
            Segment::Decode { batch, .. } => (batch, 1),
            Segment::Prefill { batch, tokens } => (batch, tokens),
            _ => return Err(refuse!("a segment without attention")),
        };
        let x = self.norm.call(cx, x)?;
        let split = |cx: &mut Ctx, x: Value, heads: u64| -> Result<Value, Refusal> {
            if tokens == 1 {
                return cx.view(&x, &[batch, heads, 1, head_size]);
            }
            let x = cx.view(&x, &[batch, tokens, heads, head_size])?;
            cx.permute(&x, &[0, 2, 1, 3])
        };
        let q = self.q_proj.call(cx, &x)?;
        let k = self.k_proj.call(cx, &x)?;
        let v = self.v_proj.call(cx, &x)?;
        let (mut q, mut k, v) = (split(cx, q, heads)?, split(cx, k, kv_heads)?, split(cx, v, kv_heads)?);
        if let Some([q_norm, k_norm]) = &self.head_norms {
            (q, k) = (q_norm.call(cx, &q)?, k_norm.call(cx, &k)?);
        }
        if self.rotates {
            (q, k) = (rotate(cx, &q, cos, sin)?, rotate(cx, &k, cos, sin)?);
        }
        match mask {
            [mask, hidden] => self.decode(cx, [q, k, v], [mask, hidden], batch),
            _ => self.prefill(cx, [q, k, v], batch, tokens),
        }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj].map(Child::entry);
        let norms = self.head_norms.iter().flatten().map(Child::entry);
        std::iter::once(self.norm.entry()).chain(products).chain(norms).collect()
    }

    fn parameters(&self) -> Vec<&Parameter> {
        match self.of {
            Segment::Decode { .. } => vec![&self.k_cache, &self.v_cache],
            _ => Vec::new(),
        }
    }
}

/// `x * cos + rotate_half(x) * sin` of `[b, h, s, d]`, as matrices of one head each.
fn rotate(cx: &mut Ctx, x: &Value, cos: &Value, sin: &Value) -> Result<Value, Refusal> {
    let dims = x.dims().to_vec();
    let &[batch, heads, tokens, size] = dims.as_slice() else { return Err(refuse!("a head is not [b, h, s, d]")) };
    let x = cx.view(x, &[batch * heads, tokens, size])?;
    let straight = cx.mul(&x, cos)?;
    let first = cx.slice(&x, 2, 0, size / 2)?;
    let second = cx.slice(&x, 2, size / 2, size)?;
    let second = cx.unary(UnaryOp::Neg, &second)?;
    let turned = cx.cat(&[&second, &first], 2)?;
    let turned = cx.mul(&turned, sin)?;
    let rotated = cx.add(&straight, &turned)?;
    cx.view(&rotated, &dims)
}

struct FeedForward {
    norm: Child<AnyNorm>,
    gate_proj: Option<Child<Linear>>,
    up_proj: Child<Linear>,
    down_proj: Child<Linear>,
}

impl FeedForward {
    fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        let bias = config.bias.mlp;
        let (hidden, columns) = (shard.hidden, shard.columns);
        Self {
            norm: AnyNorm::child(config, "post_attention_layernorm", hidden),
            gate_proj: (config.mlp == Mlp::Gated).then(|| linear("gate_proj", hidden, columns, bias)),
            up_proj: linear("up_proj", hidden, columns, bias),
            down_proj: linear("down_proj", columns, hidden, bias),
        }
    }
}

impl Module for FeedForward {
    fn class(&self) -> &str {
        "FeedForward"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.norm.call(cx, x)?;
        let inner = match &self.gate_proj {
            Some(gate_proj) => {
                let gate = gate_proj.call(cx, &x)?;
                let gate = cx.silu(&gate)?;
                let up = self.up_proj.call(cx, &x)?;
                cx.mul(&gate, &up)?
            }
            None => {
                let up = self.up_proj.call(cx, &x)?;
                cx.gelu(&up)?
            }
        };
        self.down_proj.call(cx, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = self.gate_proj.iter().chain([&self.up_proj, &self.down_proj]).map(Child::entry);
        std::iter::once(self.norm.entry()).chain(products).collect()
    }
}

struct Head {
    norm: Child<AnyNorm>,
    lm_head: Child<Linear>,
}

impl Head {
    fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        Self {
            norm: AnyNorm::child(config, "norm", shard.hidden),
            lm_head: linear("lm_head", shard.hidden, shard.words, false),
        }
    }
}

impl Module for Head {
    fn class(&self) -> &str {
        "Head"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.norm.call(cx, x)?;
        self.lm_head.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.norm.entry(), self.lm_head.entry()]
    }
}
