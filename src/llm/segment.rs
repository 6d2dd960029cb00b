//! The graphs between two collectives, of one core: attention with its norm, the feed-forward part with its norm, the head.

use ns_base::convert::u64_to_f32;
use ns_base::{Refusal, refuse};
use ns_model::nn::{LayerNorm, Linear, RmsNorm};
use ns_model::{Child, Ctx, Entry, Graph, Init, Module, Parameter, Value, trace};
use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{DType, Shape};

use super::config::{Activation, DecoderConfig, Latent, Mlp, Norm, NormPlace, Positions, QkNorm};
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
    ///
    /// # Errors
    /// When shapes do not fit.
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
const SHORT_CACHE: u64 = 256;

/// Rows that a pass of the softmax serves.
const PARTITIONS: u64 = 128;

/// A result as it is stored: in 16 bits between the kernels of a prompt.
fn stored(cx: &mut Ctx, out: Value, shard: &Shard) -> Result<Value, Refusal> {
    if shard.is_fused { cx.to(&out, DType::Bf16) } else { Ok(out) }
}

fn linear(name: &str, from: u64, to: u64, bias: bool) -> Child<Linear> {
    Child::new(name, Linear::with_bias(from, to, bias))
}

struct Attention {
    norms: Vec<Child<AnyNorm>>,
    q_proj: Child<Linear>,
    k_proj: Child<Linear>,
    v_proj: Option<Child<Linear>>,
    gate_proj: Option<Child<Linear>>,
    o_proj: Child<Linear>,
    head_norms: Option<[Child<RmsNorm>; 2]>,
    pieces: Vec<Child<Piece>>,
    shard: Shard,
    of: Segment,
    rotates: bool,
}

/// Attention of some sequences of a batch to their keys and values.
struct Piece {
    k_cache: Parameter,
    v_cache: Parameter,
    batch: u64,
    shard: Shard,
    has_cap: bool,
}

impl Module for Piece {
    fn class(&self) -> &str {
        "Piece"
    }

    /// The cache holds the new token already: the device writes it in place.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [q, mask, hidden] = inputs else { return Err(cx.wrong_inputs(3, inputs.len())) };
        let (batch, Shard { heads, kv_heads, head_size, .. }) = (self.batch, self.shard);
        let group = heads / kv_heads.max(1);
        let (keys, values) = (cx.weight(&self.k_cache)?, cx.weight(&self.v_cache)?);
        let q = cx.view(q, &[batch, kv_heads, group, head_size])?;
        // The array holds the queries, or the keys of a short cache: so a pass of the softmax serves many heads of one query.
        let scores = if mask.dims().last().is_some_and(|bucket| *bucket <= SHORT_CACHE) {
            let q = cx.transpose(&q, 2, 3)?;
            let scores = cx.matmul(&keys, &q)?;
            cx.transpose(&scores, 2, 3)?
        } else {
            let keys = cx.transpose(&keys, 2, 3)?;
            cx.matmul(&q, &keys)?
        };
        let weights = masked_softmax(cx, &scores, [mask, hidden], (batch * heads, head_size), self.has_cap)?;
        let weights = cx.view(&weights, &[batch, kv_heads, group, mask.dims().last().copied().unwrap_or(1)])?;
        let context = cx.matmul(&weights, &values)?;
        cx.view(&context, &[batch, heads * head_size])
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.k_cache, &self.v_cache]
    }
}

impl Attention {
    fn new(config: &DecoderConfig, shard: &Shard, of: Segment) -> Self {
        let (q, kv) = (shard.heads * shard.head_size, shard.kv_heads * shard.head_size);
        let (batch, bucket) = match of {
            Segment::Decode { batch, bucket } => (batch, bucket),
            _ => (1, 1),
        };
        let piece = |(n, batch): (usize, u64)| {
            let cache = |name| {
                Parameter::buffer(name, [batch, shard.kv_heads, bucket, shard.head_size], Init::Normal { std: 1.0 })
            };
            let (k_cache, v_cache) = (cache("k_cache"), cache("v_cache"));
            let piece = Piece { k_cache, v_cache, batch, shard: *shard, has_cap: config.has_score_cap };
            Child::new(format!("sequences{n}"), piece)
        };
        let is_decode = matches!(of, Segment::Decode { .. });
        let pieces = if is_decode { pieces(batch, shard.heads) } else { Vec::new() };
        let head_norm = |name: &str| Child::new(name, RmsNorm::new(shard.head_size, EPS));
        Self {
            norms: AnyNorm::of_segment(config, shard, Part::Attention),
            q_proj: linear("q_proj", shard.hidden, q, config.bias.qkv),
            k_proj: linear("k_proj", shard.hidden, kv, config.bias.qkv),
            v_proj: (!shard.values_are_keys).then(|| linear("v_proj", shard.hidden, kv, config.bias.qkv)),
            gate_proj: shard.has_gate.then(|| linear("gate_proj", shard.hidden, q, false)),
            o_proj: linear("o_proj", q, shard.hidden, config.bias.output),
            head_norms: (config.qk_norm != QkNorm::None).then(|| [head_norm("q_norm"), head_norm("k_norm")]),
            pieces: pieces.into_iter().enumerate().map(piece).collect(),
            shard: *shard,
            of,
            rotates: config.positions == Positions::Rotary,
        }
    }

    /// All tokens of each prompt.
    fn prefill(
        &self,
        cx: &mut Ctx,
        [q, k, v]: [&Value; 3],
        mask: Option<&Value>,
        (batch, tokens): (u64, u64),
    ) -> Result<Value, Refusal> {
        let Shard { heads, kv_heads, head_size, .. } = self.shard;
        let group = heads / kv_heads.max(1);
        let whole = [batch * tokens, heads * head_size];
        if matches!(self.of, Segment::Prefill { scores: Scores::Measured, .. }) {
            let context = cx.permute(q, &[0, 2, 1, 3])?;
            return cx.view(&context, &whole);
        }
        let q = cx.view(q, &[batch, kv_heads, group, tokens, head_size])?;
        let scale = (BinaryOp::Mul, 1.0 / u64_to_f32(head_size).sqrt());
        let mut contexts = Vec::new();
        for (from, to, read) in query_pieces(self.of, tokens) {
            let q = cx.slice(&q, 3, from, to)?;
            let q = cx.view(&q, &[batch, kv_heads, group * (to - from), head_size])?;
            let (k, v) = (cx.slice(k, 2, 0, read)?, cx.slice(v, 2, 0, read)?);
            let mask = mask.map(|mask| cx.slice(mask, 1, 0, read)).transpose()?;
            let context = cx.attention([&q, &k, &v], Some(scale), mask.as_ref())?;
            contexts.push(cx.view(&context, &[batch, kv_heads, group, to - from, head_size])?);
        }
        let context = joined(cx, &contexts, 3)?;
        let context = cx.view(&context, &[batch, heads, tokens, head_size])?;
        let context = cx.permute(&context, &[0, 2, 1, 3])?;
        cx.view(&context, &whole)
    }
}

/// The weights of scores, as rows of batch and heads on the partitions: a pass serves all of them.
fn masked_softmax(
    cx: &mut Ctx,
    scores: &Value,
    [mask, hidden]: [&Value; 2],
    (rows, head_size): (u64, u64),
    has_cap: bool,
) -> Result<Value, Refusal> {
    let bucket = mask.dims().last().copied().unwrap_or(1);
    let rows = cx.view(scores, &[rows, bucket])?;
    let mut rows = cx.scalar(BinaryOp::Mul, &rows, 1.0 / u64_to_f32(head_size).sqrt())?;
    if has_cap {
        rows = capped(cx, &rows)?;
    }
    // `where(mask, scores, least)` as two passes: the mask sets scores to 0, the sum sets those to the least number.
    let rows = cx.mul(&rows, mask)?;
    let rows = cx.add(&rows, hidden)?;
    cx.softmax(&rows, 1)
}

/// Calls the pieces of a batch with their sequences of some values, and with others as they are, and puts the results together.
fn in_pieces<M: Module + Sized>(
    cx: &mut Ctx,
    pieces: &[Child<M>],
    split: &[&Value],
    whole: &[&Value],
) -> Result<Value, Refusal> {
    let batch = split.first().and_then(|x| x.dims().first().copied()).unwrap_or(1);
    let sizes = even(batch, u64::try_from(pieces.len()).unwrap_or(1));
    let (mut results, mut from) = (Vec::new(), 0);
    for (piece, size) in pieces.iter().zip(sizes) {
        let own: Result<Vec<Value>, Refusal> = split.iter().map(|x| cx.slice(x, 0, from, from + size)).collect();
        from += size;
        let inputs: Vec<Value> = own?.into_iter().chain(whole.iter().map(|x| (*x).clone())).collect();
        results.push(piece.call_with(cx, &inputs)?);
    }
    joined(cx, &results, 0)
}

/// Pieces of one tensor.
fn joined(cx: &mut Ctx, pieces: &[Value], dim: u32) -> Result<Value, Refusal> {
    match pieces {
        [one] => Ok(one.clone()),
        all => cx.cat(&all.iter().collect::<Vec<_>>(), dim),
    }
}

/// Tokens of a prompt that are computed together, from and to, and how many they read. A causal kernel leaves out the blocks above the
/// diagonal, so its last piece alone reads the whole prompt. None where their time is measured.
fn query_pieces(of: Segment, tokens: u64) -> Vec<(u64, u64, u64)> {
    const SHORTEST: u64 = 128;
    const MOST: u64 = 32;
    let scores = if let Segment::Prefill { scores, .. } = of { scores } else { Scores::Whole };
    let pieces = match scores {
        Scores::Measured => return Vec::new(),
        Scores::Whole => 1,
        _ => (tokens / SHORTEST).clamp(1, MOST),
    };
    let mut from = 0;
    let piece = |size: u64| {
        from += size;
        (from - size, from, if scores == Scores::Causal { from } else { tokens })
    };
    even(tokens, pieces).into_iter().map(piece).collect()
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
            Segment::Prefill { batch, tokens, .. } => (batch, tokens),
            _ => return Err(refuse!("a segment without attention")),
        };
        let x = normed(cx, &self.norms, x)?;
        let split = |cx: &mut Ctx, x: Value, heads: u64| -> Result<Value, Refusal> {
            if tokens == 1 {
                return cx.view(&x, &[batch, heads, 1, head_size]);
            }
            let x = cx.view(&x, &[batch, tokens, heads, head_size])?;
            cx.permute(&x, &[0, 2, 1, 3])
        };
        let q = self.q_proj.call(cx, &x)?;
        let k = self.k_proj.call(cx, &x)?;
        let v = match &self.v_proj {
            Some(v_proj) => v_proj.call(cx, &x)?,
            None => k.clone(),
        };
        let (mut q, mut k, v) = (split(cx, q, heads)?, split(cx, k, kv_heads)?, split(cx, v, kv_heads)?);
        if let Some([q_norm, k_norm]) = &self.head_norms {
            (q, k) = (q_norm.call(cx, &q)?, k_norm.call(cx, &k)?);
        }
        if self.rotates {
            (q, k) = (rotate(cx, &q, cos, sin)?, rotate(cx, &k, cos, sin)?);
        }
        let mut context = match (self.of, mask) {
            (Segment::Decode { .. }, [mask, hidden]) => in_pieces(cx, &self.pieces, &[&q], &[mask, hidden])?,
            _ => self.prefill(cx, [&q, &k, &v], mask.first(), (batch, tokens))?,
        };
        if let Some(gate_proj) = &self.gate_proj {
            let gate = gate_proj.call(cx, &x)?;
            let gate = cx.sigmoid(&gate)?;
            context = cx.mul(&context, &gate)?;
        }
        let out = self.o_proj.call(cx, &context)?;
        let out = stored(cx, out, &self.shard)?;
        cx.tuple(&[&out, &k, &v])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let all =
            [Some(&self.q_proj), Some(&self.k_proj), self.v_proj.as_ref(), self.gate_proj.as_ref(), Some(&self.o_proj)];
        let products = all.into_iter().flatten().map(Child::entry);
        let norms = self.head_norms.iter().flatten().map(Child::entry);
        let pieces = self.pieces.iter().map(Child::entry);
        self.norms.iter().map(Child::entry).chain(products).chain(norms).chain(pieces).collect()
    }
}

/// Attention to one short vector for each token: queries are brought to its features, and what they find is brought back.
struct LatentAttention {
    norms: Vec<Child<AnyNorm>>,
    /// Down to the compressed queries, with their norm.
    q_a: Option<(Child<Linear>, Child<RmsNorm>)>,
    q_b: Child<Linear>,
    kv_a: Child<Linear>,
    kv_norm: Child<RmsNorm>,
    /// Keys and values of the heads of a prompt.
    kv_b: Child<Linear>,
    o_proj: Child<Linear>,
    /// From a head's query to the features that are kept, and from those to its values.
    absorbed: [Parameter; 2],
    pieces: Vec<Child<LatentPiece>>,
    shard: Shard,
    latent: Latent,
    of: Segment,
}

/// Attention of some sequences to what is kept of their tokens: features without and with a position.
struct LatentPiece {
    kept: Parameter,
    kept_rotated: Parameter,
    batch: u64,
    heads: u64,
    latent: Latent,
}

impl Module for LatentPiece {
    fn class(&self) -> &str {
        "LatentPiece"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [plain, turned, k_up, v_up, mask, hidden] = inputs else { return Err(cx.wrong_inputs(6, inputs.len())) };
        let (batch, heads, l) = (self.batch, self.heads, self.latent);
        let (kept, kept_rotated) = (cx.weight(&self.kept)?, cx.weight(&self.kept_rotated)?);
        let plain = cx.permute(plain, &[1, 0, 2])?;
        let q = cx.matmul(&plain, k_up)?;
        let q = cx.permute(&q, &[1, 0, 2])?;
        let keys = cx.transpose(&kept, 1, 2)?;
        let scores = cx.matmul(&q, &keys)?;
        let keys = cx.transpose(&kept_rotated, 1, 2)?;
        let further = cx.matmul(turned, &keys)?;
        let scores = cx.add(&scores, &further)?;
        let weights = masked_softmax(cx, &scores, [mask, hidden], (batch * heads, l.query()), false)?;
        let weights = cx.view(&weights, &[batch, heads, mask.dims().last().copied().unwrap_or(1)])?;
        let found = cx.matmul(&weights, &kept)?;
        let found = cx.permute(&found, &[1, 0, 2])?;
        let context = cx.matmul(&found, v_up)?;
        let context = cx.permute(&context, &[1, 0, 2])?;
        cx.view(&context, &[batch, heads * l.value])
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.kept, &self.kept_rotated]
    }
}

impl LatentAttention {
    fn new(config: &DecoderConfig, shard: &Shard, of: Segment, latent: Latent) -> Self {
        let Shard { hidden, heads, .. } = *shard;
        let (batch, bucket) = match of {
            Segment::Decode { batch, bucket } => (batch, bucket),
            _ => (1, 1),
        };
        let from = if latent.query_rank == 0 { hidden } else { latent.query_rank };
        let norm = |name: &str, features| Child::new(name, RmsNorm::new(features, EPS));
        let init = Init::Normal { std: 1.0 };
        let piece = |(n, batch): (usize, u64)| {
            let kept = Parameter::buffer("kept", [batch, bucket, latent.rank], init);
            let kept_rotated = Parameter::buffer("kept_rotated", [batch, bucket, latent.rotated], init);
            Child::new(format!("sequences{n}"), LatentPiece { kept, kept_rotated, batch, heads, latent })
        };
        let is_decode = matches!(of, Segment::Decode { .. });
        let pieces = if is_decode { pieces(batch, heads) } else { Vec::new() };
        Self {
            norms: AnyNorm::of_segment(config, shard, Part::Attention),
            q_a: (latent.query_rank > 0).then(|| {
                (linear("q_a_proj", hidden, latent.query_rank, false), norm("q_a_layernorm", latent.query_rank))
            }),
            q_b: linear("q_b_proj", from, heads * latent.query(), false),
            kv_a: linear("kv_a_proj", hidden, latent.kept(), false),
            kv_norm: norm("kv_a_layernorm", latent.rank),
            kv_b: linear("kv_b_proj", latent.rank, heads * (latent.plain + latent.value), false),
            o_proj: linear("o_proj", heads * latent.value, hidden, false),
            absorbed: [
                Parameter::new("k_up", [heads, latent.plain, latent.rank], init),
                Parameter::new("v_up", [heads, latent.rank, latent.value], init),
            ],
            pieces: pieces.into_iter().enumerate().map(piece).collect(),
            shard: *shard,
            latent,
            of,
        }
    }

    /// All tokens of each prompt, with keys and values of every head.
    fn prefill(
        &self,
        cx: &mut Ctx,
        q: &Value,
        [kept, turned]: [&Value; 2],
        mask: Option<&Value>,
        (batch, tokens): (u64, u64),
    ) -> Result<Value, Refusal> {
        let (heads, l) = (self.shard.heads, self.latent);
        let pairs = self.kv_b.call(cx, kept)?;
        let pairs = cx.view(&pairs, &[batch, tokens, heads, l.plain + l.value])?;
        let pairs = cx.permute(&pairs, &[0, 2, 1, 3])?;
        let keys = cx.slice(&pairs, 3, 0, l.plain)?;
        let values = cx.slice(&pairs, 3, l.plain, l.plain + l.value)?;
        // The rotated features are the same for all heads.
        let turned: Vec<&Value> = (0..heads).map(|_| turned).collect();
        let turned = cx.cat(&turned, 1)?;
        let keys = cx.cat(&[&keys, &turned], 3)?;
        let scale = (BinaryOp::Mul, 1.0 / u64_to_f32(l.query()).sqrt());
        let mut contexts = Vec::new();
        if matches!(self.of, Segment::Prefill { scores: Scores::Measured, .. }) {
            contexts.push(values.clone());
        }
        for (from, to, read) in query_pieces(self.of, tokens) {
            let q = cx.slice(q, 2, from, to)?;
            let (keys, values) = (cx.slice(&keys, 2, 0, read)?, cx.slice(&values, 2, 0, read)?);
            let mask = mask.map(|mask| cx.slice(mask, 1, 0, read)).transpose()?;
            contexts.push(cx.attention([&q, &keys, &values], Some(scale), mask.as_ref())?);
        }
        let context = joined(cx, &contexts, 2)?;
        let context = cx.permute(&context, &[0, 2, 1, 3])?;
        cx.view(&context, &[batch * tokens, heads * l.value])
    }
}

impl Module for LatentAttention {
    fn class(&self) -> &str {
        "LatentAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, cos, sin, masks @ ..] = inputs else { return Err(cx.wrong_inputs(3, inputs.len())) };
        let (heads, l) = (self.shard.heads, self.latent);
        let (batch, tokens) = match self.of {
            Segment::Decode { batch, .. } => (batch, 1),
            Segment::Prefill { batch, tokens, .. } => (batch, tokens),
            _ => return Err(refuse!("a segment without attention")),
        };
        let x = normed(cx, &self.norms, x)?;
        let narrow = match &self.q_a {
            Some((q_a, norm)) => {
                let narrow = q_a.call(cx, &x)?;
                norm.call(cx, &narrow)?
            }
            None => x.clone(),
        };
        let q = self.q_b.call(cx, &narrow)?;
        let q = cx.view(&q, &[batch, tokens, heads, l.query()])?;
        let q = cx.permute(&q, &[0, 2, 1, 3])?;
        let plain = cx.slice(&q, 3, 0, l.plain)?;
        let turned = cx.slice(&q, 3, l.plain, l.query())?;
        let turned = rotate(cx, &turned, cos, sin)?;
        let own = self.kv_a.call(cx, &x)?;
        let kept = cx.slice(&own, 1, 0, l.rank)?;
        let kept = self.kv_norm.call(cx, &kept)?;
        let key = cx.slice(&own, 1, l.rank, l.kept())?;
        let key = cx.view(&key, &[batch, 1, tokens, l.rotated])?;
        let key = rotate(cx, &key, cos, sin)?;
        let context = match (self.of, masks) {
            (Segment::Decode { .. }, [mask, hidden]) => {
                let plain = cx.view(&plain, &[batch, heads, l.plain])?;
                let turned = cx.view(&turned, &[batch, heads, l.rotated])?;
                let [k_up, v_up] = [cx.weight(&self.absorbed[0])?, cx.weight(&self.absorbed[1])?];
                in_pieces(cx, &self.pieces, &[&plain, &turned], &[&k_up, &v_up, mask, hidden])?
            }
            _ => {
                let q = cx.cat(&[&plain, &turned], 3)?;
                self.prefill(cx, &q, [&kept, &key], masks.first(), (batch, tokens))?
            }
        };
        let out = self.o_proj.call(cx, &context)?;
        let out = stored(cx, out, &self.shard)?;
        cx.tuple(&[&out, &kept, &key])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let narrow = self.q_a.iter().flat_map(|(q_a, norm)| [q_a.entry(), norm.entry()]);
        let all = [self.q_b.entry(), self.kv_a.entry(), self.kv_norm.entry(), self.o_proj.entry()];
        let prompt = matches!(self.of, Segment::Prefill { .. }).then(|| self.kv_b.entry());
        let pieces = self.pieces.iter().map(Child::entry);
        self.norms.iter().map(Child::entry).chain(narrow).chain(all).chain(prompt).chain(pieces).collect()
    }

    fn parameters(&self) -> Vec<&Parameter> {
        match self.of {
            Segment::Decode { .. } => self.absorbed.iter().collect(),
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
    shard: Shard,
    norms: Vec<Child<AnyNorm>>,
    /// What chooses the experts of a token.
    router: Option<Child<Linear>>,
    mlp: Option<Mlps>,
}

/// The products of a feed-forward part, with the gate and what it weighs in one matrix or in two.
struct Mlps {
    gate_proj: Option<Child<Linear>>,
    up_proj: Child<Linear>,
    down_proj: Child<Linear>,
    activation: Activation,
}

impl Mlps {
    fn new(config: &DecoderConfig, hidden: u64, columns: u64) -> Self {
        let bias = config.bias.mlp;
        Self {
            gate_proj: (config.mlp == Mlp::Gated).then(|| linear("gate_proj", hidden, columns, bias)),
            up_proj: linear("up_proj", hidden, columns, bias),
            down_proj: linear("down_proj", columns, hidden, bias),
            activation: config.activation,
        }
    }

    fn call(&self, cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
        let inner = match &self.gate_proj {
            Some(gate_proj) => {
                let gate = gate_proj.call(cx, x)?;
                let gate = activated(cx, self.activation, &gate)?;
                let up = self.up_proj.call(cx, x)?;
                cx.mul(&gate, &up)?
            }
            None => {
                let up = self.up_proj.call(cx, x)?;
                activated(cx, self.activation, &up)?
            }
        };
        self.down_proj.call(cx, &inner)
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.gate_proj.iter().chain([&self.up_proj, &self.down_proj]).map(Child::entry)
    }
}

impl FeedForward {
    fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        Self {
            shard: *shard,
            norms: AnyNorm::of_segment(config, shard, Part::FeedForward),
            router: (shard.experts > 0).then(|| linear("router", shard.hidden, shard.experts, false)),
            mlp: (shard.columns > 0).then(|| Mlps::new(config, shard.hidden, shard.columns)),
        }
    }
}

impl Module for FeedForward {
    fn class(&self) -> &str {
        "FeedForward"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = normed(cx, &self.norms, x)?;
        let chosen = match &self.router {
            Some(router) => {
                let scores = router.call(cx, &x)?;
                Some(cx.softmax(&scores, 1)?)
            }
            None => None,
        };
        let out = self.mlp.as_ref().map(|mlp| mlp.call(cx, &x)).transpose()?;
        let out = out.map(|out| stored(cx, out, &self.shard)).transpose()?;
        match (chosen, out) {
            (Some(chosen), Some(out)) => cx.tuple(&[&out, &chosen]),
            (Some(only), None) | (None, Some(only)) => Ok(only),
            (None, None) => Err(refuse!("a layer without a feed-forward part")),
        }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = self.mlp.iter().flat_map(Mlps::entries);
        self.norms.iter().map(Child::entry).chain(self.router.iter().map(Child::entry)).chain(products).collect()
    }
}

/// A core's part of one expert.
struct Expert {
    mlp: Mlps,
}

impl Expert {
    fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        Self { mlp: Mlps::new(config, shard.hidden, shard.expert_columns) }
    }
}

impl Module for Expert {
    fn class(&self) -> &str {
        "Expert"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.to(cx.one_input(inputs)?, DType::F32)?;
        self.mlp.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.mlp.entries().collect()
    }
}

struct Head {
    norms: Vec<Child<AnyNorm>>,
    /// From a token's features to those of a word, where they differ.
    project_out: Option<Child<Linear>>,
    lm_head: Child<Linear>,
    has_cap: bool,
}

impl Head {
    fn new(config: &DecoderConfig, shard: &Shard) -> Self {
        let (from, to) = (shard.hidden, config.word_features);
        Self {
            norms: AnyNorm::before(config, Part::Head),
            project_out: (from != to).then(|| linear("project_out", from, to, false)),
            lm_head: linear("lm_head", to, shard.words, config.bias.head),
            has_cap: config.has_word_cap,
        }
    }
}

impl Module for Head {
    fn class(&self) -> &str {
        "Head"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let mut x = normed(cx, &self.norms, x)?;
        if let Some(project_out) = &self.project_out {
            x = project_out.call(cx, &x)?;
        }
        let words = self.lm_head.call(cx, &x)?;
        if self.has_cap { capped(cx, &words) } else { Ok(words) }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let products = self.project_out.iter().chain([&self.lm_head]).map(Child::entry);
        self.norms.iter().map(Child::entry).chain(products).collect()
    }
}
