//! GPT-2 (`transformers/models/gpt2/modeling_gpt2.py`): a whole prompt at once.

use crate::nn::{Block, Embedding, Layer, LayerNorm, NewGelu, Positions, block, child, stack};
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
    layers: Vec<Layer>,
    ln_f: Child<LayerNorm>,
    causal: Parameter,
}

impl Transformer {
    fn new(config: &Gpt2Config) -> Self {
        let positions = config.positions;
        Self {
            wte: Child::new("wte", Embedding::new(config.vocab, config.hidden)),
            wpe: Child::new("wpe", Positions::new(positions, config.hidden, 0)),
            layers: (0..config.layers).map(|n| child(format!("h.{n}"), layer(config))).collect(),
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

fn layer(config: &Gpt2Config) -> Block {
    let hidden = config.hidden;
    let mlp = [
        child("c_fc", Conv1d::new(hidden, 4 * hidden)),
        child("act", NewGelu),
        child("c_proj", Conv1d::new(4 * hidden, hidden)),
    ];
    let children = [
        child("ln_1", LayerNorm::new(hidden, EPS)),
        child("attn", attention(config)),
        child("ln_2", LayerNorm::new(hidden, EPS)),
        child("mlp", stack("GPT2MLP", mlp)),
    ];
    block("GPT2Block", children, |cx, [ln_1, attn, ln_2, mlp], [x, mask]| {
        let normal = ln_1.call(cx, x)?;
        let attended = attn.call_with(cx, &[normal, mask.clone()])?;
        let x = cx.add(&attended, x)?;
        let normal = ln_2.call(cx, &x)?;
        let inner = mlp.call(cx, &normal)?;
        cx.add(&x, &inner)
    })
}

fn attention(config: &Gpt2Config) -> Block {
    let (width, heads) = (config.hidden, config.heads);
    let scale = (BinaryOp::Div, u64_to_f32(width / heads.max(1)).sqrt());
    let children = [child("c_attn", Conv1d::new(width, 3 * width)), child("c_proj", Conv1d::new(width, width))];
    block("GPT2Attention", children, move |cx, [c_attn, c_proj], [x, mask]| {
        let all = c_attn.call(cx, x)?;
        let mut part = |n| {
            let part = cx.slice(&all, 2, n * width, (n + 1) * width)?;
            split_heads(cx, &part, heads)
        };
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let context = cx.attention([&q, &k, &v], Some(scale), Some(mask))?;
        let context = merge_heads(cx, &context)?;
        c_proj.call(cx, &context)
    })
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
