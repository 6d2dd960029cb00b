//! Attention to keys and values of each head.

use ns_base::convert::u64_to_f32;
use ns_base::{Refusal, refuse};
use ns_model::nn::{Linear, RmsNorm};
use ns_model::{Child, Ctx, Entry, Init, Module, Parameter, Value};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::super::config::{DecoderConfig, Positions, QkNorm};
use super::super::shard::Shard;
use super::{AnyNorm, EPS, Part, SHORT_CACHE, Scores, Segment, capped, even, linear, normed, pieces, stored};

pub(super) struct Attention {
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
    pub(super) fn new(config: &DecoderConfig, shard: &Shard, of: Segment) -> Self {
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
pub(super) fn masked_softmax(
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
pub(super) fn in_pieces<M: Module + Sized>(
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
pub(super) fn joined(cx: &mut Ctx, pieces: &[Value], dim: u32) -> Result<Value, Refusal> {
    match pieces {
        [one] => Ok(one.clone()),
        all => cx.cat(&all.iter().collect::<Vec<_>>(), dim),
    }
}

/// Tokens of a prompt that are computed together, from and to, and how many they read. A causal kernel leaves out the blocks above the
/// diagonal, so its last piece alone reads the whole prompt. None where their time is measured.
pub(super) fn query_pieces(of: Segment, tokens: u64) -> Vec<(u64, u64, u64)> {
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

/// `x * cos + rotate_half(x) * sin` of `[b, h, s, d]`, as matrices of one head each.
pub(super) fn rotate(cx: &mut Ctx, x: &Value, cos: &Value, sin: &Value) -> Result<Value, Refusal> {
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
