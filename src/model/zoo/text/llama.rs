//! Llama (`transformers/models/llama/modeling_llama.py`): the next token of each sequence, with a static cache of keys and
//! values that stays on the device.

use crate::nn::{Embedding, Linear, RmsNorm, SiLU};
use crate::{Child, Ctx, Entry, Init, Module, Parameter, Value};
use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::attention::extended_mask;

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
    /// Tokens the cache holds, the new one included.
    pub context: u64,
}

impl LlamaConfig {
    fn head_size(&self) -> u64 {
        self.hidden / self.heads.max(1)
    }
}

/// Added to mean squares.
const EPS: f32 = 1e-5;

/// `LlamaForCausalLM`: scores of the next word, `[b, 1, vocab]`.
pub struct Llama {
    model: Child<Decoder>,
    lm_head: Child<Linear>,
}

impl Llama {
    /// A model of these sizes.
    #[must_use]
    pub fn new(config: &LlamaConfig) -> Self {
        Self {
            model: Child::new("model", Decoder::new(config)),
            lm_head: Child::new("lm_head", Linear::with_bias(config.hidden, config.vocab, false)),
        }
    }
}

impl Module for Llama {
    fn class(&self) -> &str {
        "LlamaForCausalLM"
    }

    /// Inputs: ids of the last tokens `[b, 1]`, attention mask `[b, context]`, position of the last tokens `[1]`.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = self.model.call_with(cx, inputs)?;
        self.lm_head.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.model.entry(), self.lm_head.entry()]
    }
}

fn expected(cx: &Ctx, expected: usize, inputs: &[Value]) -> Refusal {
    cx.wrong_inputs(expected, inputs.len())
}

struct Decoder {
    embed_tokens: Child<Embedding>,
    layers: Vec<Child<Layer>>,
    norm: Child<RmsNorm>,
    cosines: Child<Rotary>,
    sines: Child<Rotary>,
}

impl Decoder {
    fn new(config: &LlamaConfig) -> Self {
        let rotary = |sine| Child::new("rotary_emb", Rotary::new(config, sine));
        Self {
            embed_tokens: Child::new("embed_tokens", Embedding::new(config.vocab, config.hidden)),
            layers: (0..config.layers).map(|n| Child::new(format!("layers.{n}"), Layer::new(config))).collect(),
            norm: Child::new("norm", RmsNorm::new(config.hidden, EPS)),
            cosines: rotary(false),
            sines: rotary(true),
        }
    }
}

impl Module for Decoder {
    fn class(&self) -> &str {
        "LlamaModel"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, mask, position] = inputs else { return Err(expected(cx, 3, inputs)) };
        let mut x = self.embed_tokens.call(cx, ids)?;
        let mask = extended_mask(cx, mask)?;
        let cos = self.cosines.call(cx, position)?;
        let sin = self.sines.call(cx, position)?;
        for layer in &self.layers {
            x = layer.call_with(cx, &[x, mask.clone(), position.clone(), cos.clone(), sin.clone()])?;
        }
        self.norm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let first = [self.embed_tokens.entry()];
        let last = [self.norm.entry(), self.cosines.entry(), self.sines.entry()];
        first.into_iter().chain(self.layers.iter().map(Child::entry)).chain(last).collect()
    }
}

/// Cosines or sines of a position's angles, from a precomputed table: `[1, 1, 1, d]`.
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

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let position = cx.one_input(inputs)?;
        let table = cx.weight(&self.table)?;
        let row = cx.embedding(&table, position)?;
        let size = row.dims().last().copied().unwrap_or(1);
        cx.view(&row, &[1, 1, 1, size])
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.table]
    }
}

/// `LlamaDecoderLayer`
struct Layer {
    self_attn: Child<Attention>,
    mlp: Child<Mlp>,
    input_layernorm: Child<RmsNorm>,
    post_attention_layernorm: Child<RmsNorm>,
}

impl Layer {
    fn new(config: &LlamaConfig) -> Self {
        let linear = |name: &str, i, o| Child::new(name, Linear::with_bias(i, o, false));
        let mlp = Mlp {
            gate_proj: linear("gate_proj", config.hidden, config.intermediate),
            up_proj: linear("up_proj", config.hidden, config.intermediate),
            down_proj: linear("down_proj", config.intermediate, config.hidden),
            act_fn: Child::new("act_fn", SiLU),
        };
        Self {
            self_attn: Child::new("self_attn", Attention::new(config)),
            mlp: Child::new("mlp", mlp),
            input_layernorm: Child::new("input_layernorm", RmsNorm::new(config.hidden, EPS)),
            post_attention_layernorm: Child::new("post_attention_layernorm", RmsNorm::new(config.hidden, EPS)),
        }
    }
}

impl Module for Layer {
    fn class(&self) -> &str {
        "LlamaDecoderLayer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, others @ ..] = inputs else { return Err(expected(cx, 5, inputs)) };
        let mut attended = vec![self.input_layernorm.call(cx, x)?];
        attended.extend_from_slice(others);
        let attended = self.self_attn.call_with(cx, &attended)?;
        let x = cx.add(x, &attended)?;
        let inner = self.post_attention_layernorm.call(cx, &x)?;
        let inner = self.mlp.call(cx, &inner)?;
        cx.add(&x, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![
            self.self_attn.entry(),
            self.mlp.entry(),
            self.input_layernorm.entry(),
            self.post_attention_layernorm.entry(),
        ]
    }
}

struct Mlp {
    gate_proj: Child<Linear>,
    up_proj: Child<Linear>,
    down_proj: Child<Linear>,
    act_fn: Child<SiLU>,
}

impl Module for Mlp {
    fn class(&self) -> &str {
        "LlamaMLP"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let gate = self.gate_proj.call(cx, x)?;
        let gate = self.act_fn.call(cx, &gate)?;
        let up = self.up_proj.call(cx, x)?;
        let inner = cx.mul(&gate, &up)?;
        self.down_proj.call(cx, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.gate_proj.entry(), self.up_proj.entry(), self.down_proj.entry(), self.act_fn.entry()]
    }
}

struct Attention {
    q_proj: Child<Linear>,
    k_proj: Child<Linear>,
    v_proj: Child<Linear>,
    o_proj: Child<Linear>,
    /// Shapes for a batch of one.
    k_cache: Parameter,
    v_cache: Parameter,
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
            k_cache: cache("k_cache"),
            v_cache: cache("v_cache"),
            kv_heads: config.kv_heads,
            group: config.heads / config.kv_heads.max(1),
            head_size: size,
        }
    }

    /// The cache for a batch, with the new token's part in place.
    fn cached(
        &self,
        cx: &mut Ctx,
        cache: &Parameter,
        batch: u64,
        position: &Value,
        new: &Value,
    ) -> Result<Value, Refusal> {
        let mut cache = cache.clone();
        if let Some(first) = cache.shape.dims.first_mut() {
            *first = batch;
        }
        let cache = cx.weight(&cache)?;
        cx.index_copy(&cache, 2, position, new)
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "LlamaAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ([x, mask, position, cos, sin], Some(&batch)) = (inputs, inputs.first().and_then(|x| x.dims().first()))
        else {
            return Err(expected(cx, 5, inputs));
        };
        let (kv, group, size) = (self.kv_heads, self.group, self.head_size);
        let q = self.q_proj.call(cx, x)?;
        let k = self.k_proj.call(cx, x)?;
        let v = self.v_proj.call(cx, x)?;
        // With one token each, a view is enough in place of a view and a transpose.
        let q = cx.view(&q, &[batch, kv * group, 1, size])?;
        let k = cx.view(&k, &[batch, kv, 1, size])?;
        let v = cx.view(&v, &[batch, kv, 1, size])?;
        let q = rotate(cx, &q, cos, sin)?;
        let k = rotate(cx, &k, cos, sin)?;
        let k = self.cached(cx, &self.k_cache, batch, position, &k)?;
        let v = self.cached(cx, &self.v_cache, batch, position, &v)?;
        // Queries of a group are placed side by side, instead of repeating keys and values for each query.
        let q = if group == 1 { q } else { cx.view(&q, &[batch, kv, group, size])? };
        let scale = (BinaryOp::Div, u64_to_f32(size).sqrt());
        let context = cx.attention([&q, &k, &v], Some(scale), Some(mask))?;
        let context = cx.view(&context, &[batch, 1, kv * group * size])?;
        self.o_proj.call(cx, &context)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.q_proj.entry(), self.k_proj.entry(), self.v_proj.entry(), self.o_proj.entry()]
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.k_cache, &self.v_cache]
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
