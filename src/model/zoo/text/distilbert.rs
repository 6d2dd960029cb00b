//! DistilBERT (`transformers/models/distilbert/modeling_distilbert.py`).

use crate::nn::{Embedding, Gelu, LayerNorm, Linear, Positions};
use crate::{Child, Ctx, Entry, Module, Value};
use ns_base::Refusal;
use ns_base::convert::u64_to_f32;
use ns_tensor::kernels::BinaryOp;

use super::attention::{extended_mask, merge_heads, split_heads};

/// Added to variances.
const EPS: f32 = 1e-12;

/// Sizes of a DistilBERT.
#[derive(Clone, Copy, Debug)]
pub struct DistilBertConfig {
    /// Entries of the word table.
    pub vocab: u64,
    /// Features of a token.
    pub dim: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Features between the two linear layers of a layer.
    pub hidden: u64,
    /// Entries of the position table.
    pub positions: u64,
}

/// `DistilBertModel`: last hidden state.
pub struct DistilBert {
    embeddings: Child<Embeddings>,
    transformer: Child<Transformer>,
}

impl DistilBert {
    /// An encoder of these sizes.
    #[must_use]
    pub fn new(config: &DistilBertConfig) -> Self {
        let embeddings = Embeddings {
            word_embeddings: Child::new("word_embeddings", Embedding::new(config.vocab, config.dim)),
            position_embeddings: Child::new("position_embeddings", Positions::new(config.positions, config.dim, 0)),
            norm: Child::new("LayerNorm", LayerNorm::new(config.dim, EPS)),
        };
        let layer = |n| Child::new(format!("layer.{n}"), Block::new(config));
        Self {
            embeddings: Child::new("embeddings", embeddings),
            transformer: Child::new("transformer", Transformer { layers: (0..config.layers).map(layer).collect() }),
        }
    }
}

impl Module for DistilBert {
    fn class(&self) -> &str {
        "DistilBertModel"
    }

    /// Inputs: ids and attention mask, `[b, s]`.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, mask] = inputs else { return Err(expected_two(cx, inputs)) };
        let mask = extended_mask(cx, mask)?;
        let x = self.embeddings.call(cx, ids)?;
        self.transformer.call_with(cx, &[x, mask])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.embeddings.entry(), self.transformer.entry()]
    }
}

fn expected_two(cx: &Ctx, inputs: &[Value]) -> Refusal {
    cx.wrong_inputs(2, inputs.len())
}

struct Embeddings {
    word_embeddings: Child<Embedding>,
    position_embeddings: Child<Positions>,
    norm: Child<LayerNorm>,
}

impl Module for Embeddings {
    fn class(&self) -> &str {
        "Embeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let ids = cx.one_input(inputs)?;
        let x = self.word_embeddings.call(cx, ids)?;
        let positions = self.position_embeddings.call(cx, ids)?;
        let x = cx.add(&x, &positions)?;
        self.norm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.word_embeddings.entry(), self.position_embeddings.entry(), self.norm.entry()]
    }
}

struct Transformer {
    layers: Vec<Child<Block>>,
}

impl Module for Transformer {
    fn class(&self) -> &str {
        "Transformer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = inputs else { return Err(expected_two(cx, inputs)) };
        let mut x = x.clone();
        for layer in &self.layers {
            x = layer.call_with(cx, &[x, mask.clone()])?;
        }
        Ok(x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.layers.iter().map(Child::entry).collect()
    }
}

struct Block {
    attention: Child<Attention>,
    sa_layer_norm: Child<LayerNorm>,
    ffn: Child<FeedForward>,
    output_layer_norm: Child<LayerNorm>,
}

impl Block {
    fn new(config: &DistilBertConfig) -> Self {
        let ffn = FeedForward {
            lin1: Child::new("lin1", Linear::new(config.dim, config.hidden)),
            activation: Child::new("activation", Gelu::activation()),
            lin2: Child::new("lin2", Linear::new(config.hidden, config.dim)),
        };
        Self {
            attention: Child::new("attention", Attention::new(config)),
            sa_layer_norm: Child::new("sa_layer_norm", LayerNorm::new(config.dim, EPS)),
            ffn: Child::new("ffn", ffn),
            output_layer_norm: Child::new("output_layer_norm", LayerNorm::new(config.dim, EPS)),
        }
    }
}

impl Module for Block {
    fn class(&self) -> &str {
        "TransformerBlock"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, _] = inputs else { return Err(expected_two(cx, inputs)) };
        let attended = self.attention.call_with(cx, inputs)?;
        let attended = cx.add(&attended, x)?;
        let x = self.sa_layer_norm.call(cx, &attended)?;
        let inner = self.ffn.call(cx, &x)?;
        let inner = cx.add(&inner, &x)?;
        self.output_layer_norm.call(cx, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.attention.entry(), self.sa_layer_norm.entry(), self.ffn.entry(), self.output_layer_norm.entry()]
    }
}

struct FeedForward {
    lin1: Child<Linear>,
    activation: Child<Gelu>,
    lin2: Child<Linear>,
}

impl Module for FeedForward {
    fn class(&self) -> &str {
        "FFN"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.lin1.call(cx, x)?;
        let x = self.activation.call(cx, &x)?;
        self.lin2.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.lin1.entry(), self.activation.entry(), self.lin2.entry()]
    }
}

struct Attention {
    q_lin: Child<Linear>,
    k_lin: Child<Linear>,
    v_lin: Child<Linear>,
    out_lin: Child<Linear>,
    heads: u64,
    head_size: u64,
}

impl Attention {
    fn new(config: &DistilBertConfig) -> Self {
        let linear = |name: &str| Child::new(name, Linear::new(config.dim, config.dim));
        Self {
            q_lin: linear("q_lin"),
            k_lin: linear("k_lin"),
            v_lin: linear("v_lin"),
            out_lin: linear("out_lin"),
            heads: config.heads,
            head_size: config.dim / config.heads.max(1),
        }
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "MultiHeadSelfAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = inputs else { return Err(expected_two(cx, inputs)) };
        let q = self.q_lin.call(cx, x)?;
        let q = split_heads(cx, &q, self.heads)?;
        let k = self.k_lin.call(cx, x)?;
        let k = split_heads(cx, &k, self.heads)?;
        let v = self.v_lin.call(cx, x)?;
        let v = split_heads(cx, &v, self.heads)?;
        let q = cx.scalar(BinaryOp::Div, &q, u64_to_f32(self.head_size).sqrt())?;
        let x = cx.attention([&q, &k, &v], None, Some(mask))?;
        let x = merge_heads(cx, &x)?;
        self.out_lin.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.q_lin.entry(), self.k_lin.entry(), self.v_lin.entry(), self.out_lin.entry()]
    }
}
