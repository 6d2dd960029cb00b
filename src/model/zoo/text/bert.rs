//! BERT and similar models: encoders with the normalisation after each residual
//! (`transformers/models/bert/modeling_bert.py`). RoBERTa and ELECTRA have the same code under other class names.

use crate::nn::{Embedding, Gelu, LayerNorm, Linear, Positions, Tanh};
use crate::{Child, Ctx, Entry, Module, Value};

use super::SelfAttention;
use super::attention::extended_mask;
use ns_base::Refusal;

/// Sizes of an encoder.
#[derive(Clone, Copy, Debug)]
pub struct BertConfig {
    /// Prefix of the class names: `Bert`.
    pub prefix: &'static str,
    /// Entries of the word table.
    pub vocab: u64,
    /// Features of a token.
    pub hidden: u64,
    pub layers: u64,
    /// Attention heads.
    pub heads: u64,
    /// Features between the two linear layers of a layer.
    pub intermediate: u64,
    /// Entries of the position table.
    pub positions: u64,
    /// First entry in use.
    pub position_offset: u64,
    /// Entries of the token type table.
    pub types: u64,
    /// Added to variances.
    pub eps: f32,
    /// Whether a pooler follows.
    pub pooler: bool,
}

/// `BertModel`: last hidden state, and the pooled first token.
pub struct Bert {
    class: String,
    embeddings: Child<Embeddings>,
    encoder: Child<Encoder>,
    pooler: Option<Child<Pooler>>,
}

impl Bert {
    /// An encoder of these sizes.
    #[must_use]
    pub fn new(config: &BertConfig) -> Self {
        Self {
            class: format!("{}Model", config.prefix),
            embeddings: Child::new("embeddings", Embeddings::new(config)),
            encoder: Child::new("encoder", Encoder::new(config)),
            pooler: config.pooler.then(|| Child::new("pooler", Pooler::new(config))),
        }
    }
}

impl Module for Bert {
    fn class(&self) -> &str {
        &self.class
    }

    /// Inputs: ids `[b, s]`, attention mask `[b, s]`, and token types `[b, s]` if the tokenizer provides them.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, mask, types @ ..] = inputs else {
            return Err(cx.wrong_inputs(2, inputs.len()));
        };
        let mask = extended_mask(cx, mask)?;
        let mut words = vec![ids.clone()];
        words.extend_from_slice(types);
        let x = self.embeddings.call_with(cx, &words)?;
        let x = self.encoder.call_with(cx, &[x, mask])?;
        match &self.pooler {
            Some(pooler) => {
                let pooled = pooler.call(cx, &x)?;
                cx.tuple(&[&x, &pooled])
            }
            None => Ok(x),
        }
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let mut all = vec![self.embeddings.entry(), self.encoder.entry()];
        all.extend(self.pooler.as_ref().map(Child::entry));
        all
    }
}

/// Words, positions and token types.
struct Embeddings {
    class: String,
    word_embeddings: Child<Embedding>,
    position_embeddings: Child<Positions>,
    token_type_embeddings: Child<Embedding>,
    first_type: Child<Positions>,
    norm: Child<LayerNorm>,
}

impl Embeddings {
    fn new(config: &BertConfig) -> Self {
        let hidden = config.hidden;
        let positions = Positions::new(config.positions, hidden, config.position_offset);
        Self {
            class: format!("{}Embeddings", config.prefix),
            word_embeddings: Child::new("word_embeddings", Embedding::new(config.vocab, hidden)),
            position_embeddings: Child::new("position_embeddings", positions),
            token_type_embeddings: Child::new("token_type_embeddings", Embedding::new(config.types, hidden)),
            first_type: Child::new("token_type_embeddings", Positions::new(config.types, hidden, 0)),
            norm: Child::new("LayerNorm", LayerNorm::new(hidden, config.eps)),
        }
    }
}

impl Module for Embeddings {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [ids, types @ ..] = inputs else {
            return Err(cx.wrong_inputs(1, 0));
        };
        let words = self.word_embeddings.call(cx, ids)?;
        let types = match types.first() {
            Some(types) => self.token_type_embeddings.call(cx, types)?,
            // All tokens have type 0: one row for all.
            None => {
                let one = cx.slice(ids, 1, 0, 1)?;
                self.first_type.call(cx, &one)?
            }
        };
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

struct Encoder {
    class: String,
    layers: Vec<Child<BertLayer>>,
}

impl Encoder {
    fn new(config: &BertConfig) -> Self {
        let layers = (0..config.layers).map(|n| Child::new(format!("layer.{n}"), BertLayer::new(config))).collect();
        Self { class: format!("{}Encoder", config.prefix), layers }
    }
}

impl Module for Encoder {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask] = two(cx, inputs)?;
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

/// `BertLayer`: attention, then two linear layers, each with a residual and a normalisation.
pub struct BertLayer {
    class: String,
    attention: Child<Attention>,
    intermediate: Child<Intermediate>,
    output: Child<AddNorm>,
}

impl BertLayer {
    /// A layer of these sizes.
    #[must_use]
    pub fn new(config: &BertConfig) -> Self {
        let prefix = config.prefix;
        let dense = Linear::new(config.intermediate, config.hidden);
        Self {
            class: format!("{prefix}Layer"),
            attention: Child::new("attention", Attention::new(config)),
            intermediate: Child::new("intermediate", Intermediate::new(config)),
            output: Child::new("output", AddNorm::new(format!("{prefix}Output"), dense, config)),
        }
    }
}

impl Module for BertLayer {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = self.attention.call_with(cx, inputs)?;
        let inner = self.intermediate.call(cx, &x)?;
        self.output.call_with(cx, &[inner, x])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.attention.entry(), self.intermediate.entry(), self.output.entry()]
    }
}

struct Attention {
    class: String,
    inner: Child<SelfAttention>,
    output: Child<AddNorm>,
}

impl Attention {
    fn new(config: &BertConfig) -> Self {
        let prefix = config.prefix;
        let dense = Linear::new(config.hidden, config.hidden);
        Self {
            class: format!("{prefix}Attention"),
            inner: Child::new(
                "self",
                SelfAttention::new(format!("{prefix}SelfAttention"), config.hidden, config.heads),
            ),
            output: Child::new("output", AddNorm::new(format!("{prefix}SelfOutput"), dense, config)),
        }
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, _] = two(cx, inputs)?;
        let context = self.inner.call_with(cx, inputs)?;
        self.output.call_with(cx, &[context, x.clone()])
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.inner.entry(), self.output.entry()]
    }
}

/// `BertSelfOutput` and `BertOutput`: a linear layer, the residual, the normalisation.
struct AddNorm {
    class: String,
    dense: Child<Linear>,
    norm: Child<LayerNorm>,
}

impl AddNorm {
    fn new(class: String, dense: Linear, config: &BertConfig) -> Self {
        let norm = Child::new("LayerNorm", LayerNorm::new(config.hidden, config.eps));
        Self { class, dense: Child::new("dense", dense), norm }
    }
}

impl Module for AddNorm {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, residual] = two(cx, inputs)?;
        let x = self.dense.call(cx, x)?;
        let x = cx.add(&x, residual)?;
        self.norm.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.dense.entry(), self.norm.entry()]
    }
}

struct Intermediate {
    class: String,
    dense: Child<Linear>,
    activation: Child<Gelu>,
}

impl Intermediate {
    fn new(config: &BertConfig) -> Self {
        Self {
            class: format!("{}Intermediate", config.prefix),
            dense: Child::new("dense", Linear::new(config.hidden, config.intermediate)),
            activation: Child::new("intermediate_act_fn", Gelu::activation()),
        }
    }
}

impl Module for Intermediate {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.dense.call(cx, x)?;
        self.activation.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.dense.entry(), self.activation.entry()]
    }
}

struct Pooler {
    class: String,
    dense: Child<Linear>,
    activation: Child<Tanh>,
}

impl Pooler {
    fn new(config: &BertConfig) -> Self {
        Self {
            class: format!("{}Pooler", config.prefix),
            dense: Child::new("dense", Linear::new(config.hidden, config.hidden)),
            activation: Child::new("activation", Tanh),
        }
    }
}

impl Module for Pooler {
    fn class(&self) -> &str {
        &self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let first = cx.select(x, 1, 0)?;
        let x = self.dense.call(cx, &first)?;
        self.activation.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.dense.entry(), self.activation.entry()]
    }
}

fn two<'v>(cx: &Ctx, inputs: &'v [Value]) -> Result<[&'v Value; 2], Refusal> {
    match inputs {
        [a, b] => Ok([a, b]),
        _ => Err(cx.wrong_inputs(2, inputs.len())),
    }
}
