//! Llama (`transformers/models/llama/modeling_llama.py`): the next token of each sequence, with a static cache of keys and
//! values that stays on the device; or, as a training step reads them, whole sequences without a cache.

use std::slice;

use crate::nn::{Block, Embedding, Layer, Linear, RmsNorm, SiLU, block, block_with, child};
use crate::{Child, Ctx, Entry, Init, Module, Parameter, Value};
use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::attention::{extended_mask, merge_heads, split_heads};

/// Sizes of a Llama.
#[derive(Clone, Copy, Debug)]
pub struct LlamaConfig {
    /// Entries of the word table.
    pub vocab: u64,
    /// Features of a token.
    pub hidden: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Heads of keys and values; each serves `heads / kv_heads` heads.
    pub kv_heads: u64,
    /// Features between the linear layers of a layer.
    pub intermediate: u64,
    /// Base of the rotary frequencies.
    pub theta: f32,
    /// Tokens the cache holds, the new one included; or the tokens of a sequence.
    pub context: u64,
    /// What a call reads.
    pub reads: Reads,
}

/// What a call of a decoder reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// One token of each sequence; keys and values of those before it are in a cache.
    LastToken,
    /// All tokens of each sequence; the model has no cache.
    Sequence,
}

impl LlamaConfig {
    fn head_size(&self) -> u64 {
        self.hidden / self.heads.max(1)
    }
}

/// Added to mean squares.
const EPS: f32 = 1e-5;

/// `LlamaForCausalLM`: scores of the next word, `[b, 1, vocab]`, or `[b, s, vocab]` of a whole sequence. Inputs: ids of the last
/// tokens `[b, 1]`, attention mask `[b, context]`, position of the last tokens `[1]`; or the ids of whole sequences `[b, s]` alone.
pub fn llama(config: &LlamaConfig) -> Block {
    let head = child("lm_head", Linear::with_bias(config.hidden, config.vocab, false));
    block_with("LlamaForCausalLM", [child("model", Decoder::new(config)), head], |cx, [model, lm_head], [], inputs| {
        let x = model.call_with(cx, inputs)?;
        lm_head.call(cx, &x)
    })
}

fn expected(cx: &Ctx, expected: usize, inputs: &[Value]) -> Refusal {
    cx.wrong_inputs(expected, inputs.len())
}

struct Decoder {
    embed_tokens: Child<Embedding>,
    layers: Vec<Layer>,
    norm: Child<RmsNorm>,
    cosines: Child<Rotary>,
    sines: Child<Rotary>,
    /// The mask of whole sequences.
    causal: Option<Parameter>,
}

impl Decoder {
    fn new(config: &LlamaConfig) -> Self {
        let rotary = |sine| Child::new("rotary_emb", Rotary::new(config, sine));
        let square = [config.context, config.context];
        let causal = Parameter::buffer("causal_mask", square, Init::CausalMask);
        Self {
            embed_tokens: Child::new("embed_tokens", Embedding::new(config.vocab, config.hidden)),
            layers: (0..config.layers).map(|n| child(format!("layers.{n}"), layer(config))).collect(),
            norm: Child::new("norm", RmsNorm::new(config.hidden, EPS)),
            cosines: rotary(false),
            sines: rotary(true),
            causal: (config.reads == Reads::Sequence).then_some(causal),
        }
    }

    /// The mask to add to scores, and the position of each token where the call says it.
    fn mask<'v>(&self, cx: &mut Ctx, inputs: &'v [Value]) -> Result<(Value, Option<&'v Value>), Refusal> {
        match (&self.causal, inputs) {
            (Some(causal), [_]) => Ok((cx.weight(causal)?, None)),
            (None, [_, mask, position]) => Ok((extended_mask(cx, mask)?, Some(position))),
            (causal, _) => Err(expected(cx, if causal.is_some() { 1 } else { 3 }, inputs)),
        }
    }
}

impl Module for Decoder {
    fn class(&self) -> &str {
        "LlamaModel"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let Some(ids) = inputs.first() else { return Err(expected(cx, 1, inputs)) };
        let mut x = self.embed_tokens.call(cx, ids)?;
        let (mask, position) = self.mask(cx, inputs)?;
        let rows: Vec<Value> = position.cloned().into_iter().collect();
        let cos = self.cosines.call_with(cx, &rows)?;
        let sin = self.sines.call_with(cx, &rows)?;
        for layer in &self.layers {
            let mut all = vec![x, mask.clone(), cos.clone(), sin.clone()];
            all.extend_from_slice(&rows);
            x = layer.call_with(cx, &all)?;
        }
        self.norm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let first = [self.embed_tokens.entry()];
        let last = [self.norm.entry(), self.cosines.entry(), self.sines.entry()];
        first.into_iter().chain(self.layers.iter().map(Child::entry)).chain(last).collect()
    }

    fn parameters(&self) -> Vec<&Parameter> {
        self.causal.iter().collect()
    }
}

/// Cosines or sines of angles, from a precomputed table: of one position `[1, 1, 1, d]`, or of all positions `[1, 1, s, d]`.
struct Rotary {
    table: Parameter,
}

impl Rotary {
    fn new(config: &LlamaConfig, sine: bool) -> Self {
        let name = if sine { "sin_cached" } else { "cos_cached" };
        let init = Init::Rotary { theta: config.theta, sine };
        Self { table: Parameter::buffer(name, [config.context, config.head_size()], init) }
    }
}

impl Module for Rotary {
    fn class(&self) -> &str {
        "LlamaRotaryEmbedding"
    }

    /// Input: the position, if it is one.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let table = cx.weight(&self.table)?;
        let rows = match inputs {
            [] => table,
            [position, ..] => cx.embedding(&table, position)?,
        };
        let (Some(&count), Some(&size)) = (rows.dims().first(), rows.dims().last()) else { return Ok(rows) };
        cx.view(&rows, &[1, 1, count, size])
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.table]
    }
}

fn layer(config: &LlamaConfig) -> Block {
    let children = [
        child("self_attn", Attention::new(config)),
        child("mlp", mlp(config)),
        child("input_layernorm", RmsNorm::new(config.hidden, EPS)),
        child("post_attention_layernorm", RmsNorm::new(config.hidden, EPS)),
    ];
    block_with("LlamaDecoderLayer", children, |cx, [self_attn, mlp, before, after], [x], others| {
        let normal = before.call(cx, x)?;
        let attended = self_attn.call_with(cx, &[slice::from_ref(&normal), others].concat())?;
        let x = cx.add(x, &attended)?;
        let inner = after.call(cx, &x)?;
        let inner = mlp.call(cx, &inner)?;
        cx.add(&x, &inner)
    })
}

fn mlp(config: &LlamaConfig) -> Block {
    let linear = |name, i, o| child(name, Linear::with_bias(i, o, false));
    let children = [
        linear("gate_proj", config.hidden, config.intermediate),
        linear("up_proj", config.hidden, config.intermediate),
        linear("down_proj", config.intermediate, config.hidden),
        child("act_fn", SiLU),
    ];
    block("LlamaMLP", children, |cx, [gate_proj, up_proj, down_proj, act_fn], [x]| {
        let gate = gate_proj.call(cx, x)?;
        let gate = act_fn.call(cx, &gate)?;
        let up = up_proj.call(cx, x)?;
        let inner = cx.mul(&gate, &up)?;
        down_proj.call(cx, &inner)
    })
}

struct Attention {
    q_proj: Child<Linear>,
    k_proj: Child<Linear>,
    v_proj: Child<Linear>,
    o_proj: Child<Linear>,
    /// Keys and values of the tokens before, with shapes for a batch of one; none where a call reads whole sequences.
    caches: Option<[Parameter; 2]>,
    kv_heads: u64,
    /// Heads that share one head of keys and values.
    group: u64,
    head_size: u64,
}

impl Attention {
    fn new(config: &LlamaConfig) -> Self {
        let linear = |name: &str, i, o| Child::new(name, Linear::with_bias(i, o, false));
        let (hidden, size) = (config.hidden, config.head_size());
        let narrow = config.kv_heads * size;
        let cache = |name| {
            let dims = [1, config.kv_heads, config.context, size];
            Parameter::buffer(name, dims, Init::Normal { std: 1.0 })
        };
        Self {
            q_proj: linear("q_proj", hidden, config.heads * size),
            k_proj: linear("k_proj", hidden, narrow),
            v_proj: linear("v_proj", hidden, narrow),
            o_proj: linear("o_proj", config.heads * size, hidden),
            caches: (config.reads == Reads::LastToken).then(|| [cache("k_cache"), cache("v_cache")]),
            kv_heads: config.kv_heads,
            group: config.heads / config.kv_heads.max(1),
            head_size: size,
        }
    }

    /// The cache for a batch, with the new token's part in place.
    fn with_new(cx: &mut Ctx, cache: &Parameter, batch: u64, position: &Value, new: &Value) -> Result<Value, Refusal> {
        let mut cache = cache.clone();
        if let Some(first) = cache.shape.dims.first_mut() {
            *first = batch;
        }
        let cache = cx.weight(&cache)?;
        cx.index_copy(&cache, 2, position, new)
    }

    /// Attention of one token of each sequence to the cache.
    fn of_last_token(
        &self,
        cx: &mut Ctx,
        [q, k, v]: [Value; 3],
        [mask, cos, sin, position]: [&Value; 4],
        caches: &[Parameter; 2],
    ) -> Result<Value, Refusal> {
        let (kv, group, size) = (self.kv_heads, self.group, self.head_size);
        let batch = q.dims().first().copied().unwrap_or(1);
        // With one token each, a view is enough in place of a view and a transpose.
        let q = cx.view(&q, &[batch, kv * group, 1, size])?;
        let k = cx.view(&k, &[batch, kv, 1, size])?;
        let v = cx.view(&v, &[batch, kv, 1, size])?;
        let q = rotate(cx, &q, cos, sin)?;
        let k = rotate(cx, &k, cos, sin)?;
        let [k_cache, v_cache] = caches;
        let k = Self::with_new(cx, k_cache, batch, position, &k)?;
        let v = Self::with_new(cx, v_cache, batch, position, &v)?;
        // Queries of a group are placed side by side, instead of repeating keys and values for each query.
        let q = if group == 1 { q } else { cx.view(&q, &[batch, kv, group, size])? };
        let context = cx.attention([&q, &k, &v], Some(self.scale()), Some(mask))?;
        cx.view(&context, &[batch, 1, kv * group * size])
    }

    /// Attention of each token to those before it.
    fn of_sequence(
        &self,
        cx: &mut Ctx,
        [q, k, v]: [Value; 3],
        [mask, cos, sin]: [&Value; 3],
    ) -> Result<Value, Refusal> {
        let q = split_heads(cx, &q, self.kv_heads * self.group)?;
        let k = split_heads(cx, &k, self.kv_heads)?;
        let v = split_heads(cx, &v, self.kv_heads)?;
        let q = rotate(cx, &q, cos, sin)?;
        let k = rotate(cx, &k, cos, sin)?;
        let (k, v) = (self.repeated(cx, k)?, self.repeated(cx, v)?);
        let context = cx.attention([&q, &k, &v], Some(self.scale()), Some(mask))?;
        merge_heads(cx, &context)
    }

    /// `repeat_kv`: keys or values `[b, kv_heads, s, d]` for every head that reads them.
    fn repeated(&self, cx: &mut Ctx, x: Value) -> Result<Value, Refusal> {
        let (&[batch, heads, seq, size], false) = (x.dims(), self.group == 1) else { return Ok(x) };
        let x = cx.view(&x, &[batch, heads, 1, seq, size])?;
        let x = cx.expand(&x, &[batch, heads, self.group, seq, size])?;
        cx.view(&x, &[batch, heads * self.group, seq, size])
    }

    fn scale(&self) -> (BinaryOp, f32) {
        (BinaryOp::Div, u64_to_f32(self.head_size).sqrt())
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "LlamaAttention"
    }

    /// Inputs: `[b, s, h]`, the mask, cosines and sines, and the position if a call reads one token.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask, cos, sin, position @ ..] = inputs else { return Err(expected(cx, 4, inputs)) };
        let parts = [self.q_proj.call(cx, x)?, self.k_proj.call(cx, x)?, self.v_proj.call(cx, x)?];
        let context = match (&self.caches, position) {
            (Some(caches), [position]) => self.of_last_token(cx, parts, [mask, cos, sin, position], caches)?,
            (None, []) => self.of_sequence(cx, parts, [mask, cos, sin])?,
            (caches, _) => return Err(expected(cx, if caches.is_some() { 5 } else { 4 }, inputs)),
        };
        self.o_proj.call(cx, &context)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.q_proj.entry(), self.k_proj.entry(), self.v_proj.entry(), self.o_proj.entry()]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        self.caches.iter().flatten().collect()
    }
}

/// `apply_rotary_pos_emb`: `x * cos + rotate_half(x) * sin`
fn rotate(cx: &mut Ctx, x: &Value, cos: &Value, sin: &Value) -> Result<Value, Refusal> {
    let size = x.dims().last().copied().unwrap_or(0);
    let last = usize_to_u32(x.dims().len()).saturating_sub(1);
    let straight = cx.mul(x, cos)?;
    let first = cx.slice(x, last, 0, size / 2)?;
    let second = cx.slice(x, last, size / 2, size)?;
    let second = cx.unary(UnaryOp::Neg, &second)?;
    let turned = cx.cat(&[&second, &first], last)?;
    let turned = cx.mul(&turned, sin)?;
    cx.add(&straight, &turned)
}
