//! ALBERT (`transformers/models/albert/modeling_albert.py`): one layer, applied repeatedly.

use crate::nn::{Embedding, LayerNorm, Linear, NewGelu, Positions, Tanh};
use crate::{Child, Ctx, Entry, Module, Value};
use ns_base::Refusal;
use ns_base::convert::u64_to_f32;
use ns_tensor::kernels::BinaryOp;

use super::attention::{extended_mask, merge_heads, split_heads};

/// Added to variances.
const EPS: f32 = 1e-12;

/// Sizes of an ALBERT.
#[derive(Clone, Copy, Debug)]
pub struct AlbertConfig {
    /// Entries of the word table.
    pub vocab: u64,
    /// Features of an embedding.
    pub embedding: u64,
    /// Features of a token.
    pub hidden: u64,
    /// The number of times that the layer is applied.
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Features between the two linear layers of the layer.
    pub intermediate: u64,
    /// Entries of the position table.
    pub positions: u64,
}

/// `AlbertModel`: last hidden state, and the pooled first token.
pub struct Albert {
    embeddings: Child<Embeddings>,
    encoder: Child<Transformer>,
    pooler: Child<Linear>,
    pooler_activation: Child<Tanh>,
}

impl Albert {
    /// An encoder of these sizes.
    #[must_use]
    pub fn new(config: &AlbertConfig) -> Self {
        Self {
            embeddings: Child::new("embeddings", Embeddings::new(config)),
            encoder: Child::new("encoder", Transformer::new(config)),
            pooler: Child::new("pooler", Linear::new(config.hidden, config.hidden)),
            pooler_activation: Child::new("pooler_activation", Tanh),
        }
    }
}

fn expected(cx: &Ctx, expected: usize, inputs: &[Value]) -> Refusal {
    cx.wrong_inputs(expected, inputs.len())
}

impl Module for Albert {
    fn class(&self) -> &str {
        "AlbertModel"
    }

    /// Inputs: ids, attention mask and token types, `[b, s]`.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, mask, types] = inputs else { return Err(expected(cx, 3, inputs)) };
        let mask = extended_mask(cx, mask)?;
        let x = self.embeddings.call_with(cx, &[ids.clone(), types.clone()])?;
        let x = self.encoder.call_with(cx, &[x, mask])?;
        let first = cx.select(&x, 1, 0)?;
        let pooled = self.pooler.call(cx, &first)?;
        let pooled = self.pooler_activation.call(cx, &pooled)?;
        cx.tuple(&[&x, &pooled])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.embeddings.entry(), self.encoder.entry(), self.pooler.entry(), self.pooler_activation.entry()]
    }
}

struct Embeddings {
    word_embeddings: Child<Embedding>,
    position_embeddings: Child<Positions>,
    token_type_embeddings: Child<Embedding>,
    norm: Child<LayerNorm>,
}

impl Embeddings {
    fn new(config: &AlbertConfig) -> Self {
        let features = config.embedding;
        Self {
            word_embeddings: Child::new("word_embeddings", Embedding::new(config.vocab, features)),
            position_embeddings: Child::new("position_embeddings", Positions::new(config.positions, features, 0)),
            token_type_embeddings: Child::new("token_type_embeddings", Embedding::new(2, features)),
            norm: Child::new("LayerNorm", LayerNorm::new(features, EPS)),
        }
    }
}

impl Module for Embeddings {
    fn class(&self) -> &str {
        "AlbertEmbeddings"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, types] = inputs else { return Err(expected(cx, 2, inputs)) };
        let words = self.word_embeddings.call(cx, ids)?;
        let types = self.token_type_embeddings.call(cx, types)?;
        let x = cx.add(&words, &types)?;
        let positions = self.position_embeddings.call(cx, ids)?;
        let x = cx.add(&x, &positions)?;
        self.norm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![
            self.word_embeddings.entry(),
            self.position_embeddings.entry(),
            self.token_type_embeddings.entry(),
            self.norm.entry(),
        ]
    }
}

struct Transformer {
    mapping: Child<Linear>,
    group: Child<LayerGroup>,
    layers: u64,
}

impl Transformer {
    fn new(config: &AlbertConfig) -> Self {
        let group = LayerGroup { layer: Child::new("albert_layers.0", Layer::new(config)) };
        Self {
            mapping: Child::new("embedding_hidden_mapping_in", Linear::new(config.embedding, config.hidden)),
            group: Child::new("albert_layer_groups.0", group),
            layers: config.layers,
        }
    }
}

impl Module for Transformer {
    fn class(&self) -> &str {
        "AlbertTransformer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = inputs else { return Err(expected(cx, 2, inputs)) };
        let mut x = self.mapping.call(cx, x)?;
        for _ in 0..self.layers {
            x = self.group.call_with(cx, &[x, mask.clone()])?;
        }
        Ok(x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.mapping.entry(), self.group.entry()]
    }
}

struct LayerGroup {
    layer: Child<Layer>,
}

impl Module for LayerGroup {
    fn class(&self) -> &str {
        "AlbertLayerGroup"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        self.layer.call_with(cx, inputs)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.layer.entry()]
    }
}

struct Layer {
    full_layer_layer_norm: Child<LayerNorm>,
    attention: Child<Attention>,
    ffn: Child<Linear>,
    ffn_output: Child<Linear>,
    activation: Child<NewGelu>,
}

impl Layer {
    fn new(config: &AlbertConfig) -> Self {
        Self {
            full_layer_layer_norm: Child::new("full_layer_layer_norm", LayerNorm::new(config.hidden, EPS)),
            attention: Child::new("attention", Attention::new(config)),
            ffn: Child::new("ffn", Linear::new(config.hidden, config.intermediate)),
            ffn_output: Child::new("ffn_output", Linear::new(config.intermediate, config.hidden)),
            activation: Child::new("activation", NewGelu),
        }
    }
}

impl Module for Layer {
    fn class(&self) -> &str {
        "AlbertLayer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = self.attention.call_with(cx, inputs)?;
        let inner = self.ffn.call(cx, &x)?;
        let inner = self.activation.call(cx, &inner)?;
        let inner = self.ffn_output.call(cx, &inner)?;
        let inner = cx.add(&inner, &x)?;
        self.full_layer_layer_norm.call(cx, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![
            self.full_layer_layer_norm.entry(),
            self.attention.entry(),
            self.ffn.entry(),
            self.ffn_output.entry(),
            self.activation.entry(),
        ]
    }
}

struct Attention {
    query: Child<Linear>,
    key: Child<Linear>,
    value: Child<Linear>,
    dense: Child<Linear>,
    norm: Child<LayerNorm>,
    heads: u64,
    head_size: u64,
}

impl Attention {
    fn new(config: &AlbertConfig) -> Self {
        let linear = |name: &str| Child::new(name, Linear::new(config.hidden, config.hidden));
        Self {
            query: linear("query"),
            key: linear("key"),
            value: linear("value"),
            dense: linear("dense"),
            norm: Child::new("LayerNorm", LayerNorm::new(config.hidden, EPS)),
            heads: config.heads,
            head_size: config.hidden / config.heads.max(1),
        }
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "AlbertAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = inputs else { return Err(expected(cx, 2, inputs)) };
        let q = self.query.call(cx, x)?;
        let k = self.key.call(cx, x)?;
        let v = self.value.call(cx, x)?;
        let q = split_heads(cx, &q, self.heads)?;
        let k = split_heads(cx, &k, self.heads)?;
        let v = split_heads(cx, &v, self.heads)?;
        let scale = (BinaryOp::Div, u64_to_f32(self.head_size).sqrt());
        let context = cx.attention([&q, &k, &v], Some(scale), Some(mask))?;
        let context = merge_heads(cx, &context)?;
        let context = self.dense.call(cx, &context)?;
        let sum = cx.add(x, &context)?;
        self.norm.call(cx, &sum)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.query.entry(), self.key.entry(), self.value.entry(), self.dense.entry(), self.norm.entry()]
    }
}
