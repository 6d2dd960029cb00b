//! GPT-2 (`transformers/models/gpt2/modeling_gpt2.py`): a whole prompt at once.

use crate::nn::{Embedding, LayerNorm, NewGelu, Positions};
use crate::zoo::{ModelInfo, ParamInfo, ParamKind};
use crate::{Child, Ctx, Distribution, Entry, Init, InputSpec, Module, Parameter, Value};
use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, u64_to_u32};
use ns_tensor::kernels::BinaryOp;
use ns_tensor::{DType, Shape};

use super::attention::{merge_heads, split_heads};

/// Added to variances.
const EPS: f32 = 1e-5;

/// Sizes of a GPT-2.
#[derive(Clone, Copy, Debug)]
pub struct Gpt2Config {
    /// Entries of the word table.
    pub vocab: u64,
    /// Features of a token.
    pub hidden: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Entries of the position table.
    pub positions: u64,
}

const GPT2: Gpt2Config = Gpt2Config { vocab: 50_257, hidden: 768, layers: 12, heads: 12, positions: 1024 };

pub(in crate::zoo) static INFO: ModelInfo = ModelInfo {
    id: "gpt2",
    description: "GPT-2: 12 layers of 768 features, a whole prompt at once, scores of the next word at each position",
    default_batch_size: 1,
    batch_help: "batch size b gives b prompts: token ids of [b, seq]",
    parameters: &[ParamInfo {
        name: "seq",
        help: "tokens of a prompt",
        kind: ParamKind::Int { default: 128, min: 1, max: 1024 },
    }],
    build: |_| Box::new(Gpt2::new(&GPT2)),
    inputs: |s, batch| {
        let shape = Shape::new(DType::S32, [batch, s.int("seq")]);
        vec![InputSpec { shape, distribution: Distribution::Below(u64_to_u32(GPT2.vocab)) }]
    },
};

/// `GPT2LMHeadModel`: scores `[b, s, vocab]`. The word table is also the weight of the last layer.
pub struct Gpt2 {
    transformer: Child<Transformer>,
    tied: Parameter,
}

impl Gpt2 {
    /// A model of these sizes.
    #[must_use]
    pub fn new(config: &Gpt2Config) -> Self {
        let init = Init::Normal { std: 0.02 };
        Self {
            transformer: Child::new("transformer", Transformer::new(config)),
            tied: Parameter::new("transformer.wte.weight", [config.vocab, config.hidden], init),
        }
    }
}

impl Module for Gpt2 {
    fn class(&self) -> &str {
        "GPT2LMHeadModel"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ids = cx.one_input(inputs)?;
        let x = self.transformer.call(cx, ids)?;
        let words = cx.weight(&self.tied)?;
        cx.linear(&x, &words, None)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.transformer.entry()]
    }
}

struct Transformer {
    wte: Child<Embedding>,
    wpe: Child<Positions>,
    layers: Vec<Child<Block>>,
    ln_f: Child<LayerNorm>,
    causal: Parameter,
}

impl Transformer {
    fn new(config: &Gpt2Config) -> Self {
        let positions = config.positions;
        Self {
            wte: Child::new("wte", Embedding::new(config.vocab, config.hidden)),
            wpe: Child::new("wpe", Positions::new(positions, config.hidden, 0)),
            layers: (0..config.layers).map(|n| Child::new(format!("h.{n}"), Block::new(config))).collect(),
            ln_f: Child::new("ln_f", LayerNorm::new(config.hidden, EPS)),
            causal: Parameter::buffer("causal_mask", [positions, positions], Init::CausalMask),
        }
    }
}

impl Module for Transformer {
    fn class(&self) -> &str {
        "GPT2Model"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ids = cx.one_input(inputs)?;
        let seq = ids.dims().get(1).copied().unwrap_or(1);
        let words = self.wte.call(cx, ids)?;
        let positions = self.wpe.call(cx, ids)?;
        let mut x = cx.add(&words, &positions)?;
        let causal = cx.weight(&self.causal)?;
        let causal = cx.slice(&causal, 0, 0, seq)?;
        let causal = cx.slice(&causal, 1, 0, seq)?;
        for layer in &self.layers {
            x = layer.call_with(cx, &[x, causal.clone()])?;
        }
        self.ln_f.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let first = [self.wte.entry(), self.wpe.entry()];
        first.into_iter().chain(self.layers.iter().map(Child::entry)).chain([self.ln_f.entry()]).collect()
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.causal]
    }
}

fn two<'v>(cx: &Ctx, inputs: &'v [Value]) -> Result<[&'v Value; 2], Refusal> {
    match inputs {
        [a, b] => Ok([a, b]),
        _ => Err(cx.wrong_inputs(2, inputs.len())),
    }
}

struct Block {
    ln_1: Child<LayerNorm>,
    attn: Child<Attention>,
    ln_2: Child<LayerNorm>,
    mlp: Child<Mlp>,
}

impl Block {
    fn new(config: &Gpt2Config) -> Self {
        let hidden = config.hidden;
        let mlp = Mlp {
            c_fc: Child::new("c_fc", Conv1d::new(hidden, 4 * hidden)),
            act: Child::new("act", NewGelu),
            c_proj: Child::new("c_proj", Conv1d::new(4 * hidden, hidden)),
        };
        let attention = Attention {
            c_attn: Child::new("c_attn", Conv1d::new(hidden, 3 * hidden)),
            c_proj: Child::new("c_proj", Conv1d::new(hidden, hidden)),
            heads: config.heads,
        };
        Self {
            ln_1: Child::new("ln_1", LayerNorm::new(hidden, EPS)),
            attn: Child::new("attn", attention),
            ln_2: Child::new("ln_2", LayerNorm::new(hidden, EPS)),
            mlp: Child::new("mlp", mlp),
        }
    }
}

impl Module for Block {
    fn class(&self) -> &str {
        "GPT2Block"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = two(cx, inputs)?;
        let normal = self.ln_1.call(cx, x)?;
        let attended = self.attn.call_with(cx, &[normal, mask.clone()])?;
        let x = cx.add(&attended, x)?;
        let normal = self.ln_2.call(cx, &x)?;
        let inner = self.mlp.call(cx, &normal)?;
        cx.add(&x, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.ln_1.entry(), self.attn.entry(), self.ln_2.entry(), self.mlp.entry()]
    }
}

struct Attention {
    c_attn: Child<Conv1d>,
    c_proj: Child<Conv1d>,
    heads: u64,
}

impl Module for Attention {
    fn class(&self) -> &str {
        "GPT2Attention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = two(cx, inputs)?;
        let width = x.dims().last().copied().unwrap_or(1);
        let all = self.c_attn.call(cx, x)?;
        let mut parts = Vec::with_capacity(3);
        for n in 0..3 {
            let part = cx.slice(&all, 2, n * width, (n + 1) * width)?;
            parts.push(split_heads(cx, &part, self.heads)?);
        }
        let [q, k, v] = parts.as_slice() else { return Ok(all) };
        let head_size = width / self.heads.max(1);
        let scale = (BinaryOp::Div, u64_to_f32(head_size).sqrt());
        let context = cx.attention([q, k, v], Some(scale), Some(mask))?;
        let context = merge_heads(cx, &context)?;
        self.c_proj.call(cx, &context)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.c_attn.entry(), self.c_proj.entry()]
    }
}

struct Mlp {
    c_fc: Child<Conv1d>,
    act: Child<NewGelu>,
    c_proj: Child<Conv1d>,
}

impl Module for Mlp {
    fn class(&self) -> &str {
        "GPT2MLP"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.c_fc.call(cx, x)?;
        let x = self.act.call(cx, &x)?;
        self.c_proj.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.c_fc.entry(), self.act.entry(), self.c_proj.entry()]
    }
}

/// `transformers.pytorch_utils.Conv1D`: a linear layer whose weight is `[in, out]`.
struct Conv1d {
    weight: Parameter,
    bias: Parameter,
}

impl Conv1d {
    fn new(features: u64, out: u64) -> Self {
        let init = Init::Normal { std: 0.02 };
        Self { weight: Parameter::new("weight", [features, out], init), bias: Parameter::new("bias", [out], init) }
    }
}

impl Module for Conv1d {
    fn class(&self) -> &str {
        "Conv1D"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let (weight, bias) = (cx.weight(&self.weight)?, cx.weight(&self.bias)?);
        let Some((&depth, rows)) = x.dims().split_last() else { return Ok(x.clone()) };
        let mut dims = rows.to_vec();
        let flat = cx.view(x, &[rows.iter().product(), depth])?;
        let y = cx.addmm(&bias, &flat, &weight)?;
        dims.extend(y.dims().last());
        cx.view(&y, &dims)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight, &self.bias]
    }
}
