//! BERT and similar models: encoders with the normalisation after each residual
//! (`transformers/models/bert/modeling_bert.py`). RoBERTa and ELECTRA have the same code under other class names.

use std::slice;

use crate::nn::{Block, Embedding, Gelu, Layer, LayerNorm, Linear, Positions, Tanh, block, block_with, child, stack};
use crate::{Ctx, Value};

use super::attention::{extended_mask, self_attention};
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

/// `BertModel`: last hidden state, and the pooled first token. Inputs: ids `[b, s]`, attention mask `[b, s]`, and token types
/// `[b, s]` if the tokenizer provides them.
pub fn bert(config: &BertConfig) -> Block {
    let class = format!("{}Model", config.prefix);
    let [embeddings, encoder] = [child("embeddings", embeddings(config)), child("encoder", encoder(config))];
    if !config.pooler {
        return block_with(class, [embeddings, encoder], |cx, [embeddings, encoder], inputs, types| {
            last_hidden_state(cx, [embeddings, encoder], inputs, types)
        });
    }
    let children = [embeddings, encoder, child("pooler", pooler(config))];
    block_with(class, children, |cx, [embeddings, encoder, pooler], inputs, types| {
        let x = last_hidden_state(cx, [embeddings, encoder], inputs, types)?;
        let pooled = pooler.call(cx, &x)?;
        cx.tuple(&[&x, &pooled])
    })
}

fn last_hidden_state(
    cx: &mut Ctx,
    [embeddings, encoder]: [&Layer; 2],
    [ids, mask]: &[Value; 2],
    types: &[Value],
) -> Result<Value, Refusal> {
    let mask = extended_mask(cx, mask)?;
    let x = embeddings.call_with(cx, &[slice::from_ref(ids), types].concat())?;
    encoder.call_with(cx, &[x, mask])
}

/// Words, positions and token types.
fn embeddings(config: &BertConfig) -> Block {
    let hidden = config.hidden;
    let children = [
        child("word_embeddings", Embedding::new(config.vocab, hidden)),
        child("position_embeddings", Positions::new(config.positions, hidden, config.position_offset)),
        child("token_type_embeddings", Embedding::new(config.types, hidden)),
        child("LayerNorm", LayerNorm::new(hidden, config.eps)),
    ];
    let first_type = child("token_type_embeddings", Positions::new(config.types, hidden, 0));
    let class = format!("{}Embeddings", config.prefix);
    block_with(class, children, move |cx, [words, positions, token_types, norm], [ids], types| {
        let words = words.call(cx, ids)?;
        let types = match types.first() {
            Some(types) => token_types.call(cx, types)?,
            // All tokens have type 0: one row for all.
            None => {
                let one = cx.slice(ids, 1, 0, 1)?;
                first_type.call(cx, &one)?
            }
        };
        let x = cx.add(&words, &types)?;
        let positions = positions.call(cx, ids)?;
        let x = cx.add(&x, &positions)?;
        norm.call(cx, &x)
    })
}

fn encoder(config: &BertConfig) -> Block {
    let layers = (0..config.layers).map(|n| child(format!("layer.{n}"), layer(config)));
    stack(format!("{}Encoder", config.prefix), layers)
}

/// `BertLayer`: attention, then two linear layers, each with a residual and a normalisation.
fn layer(config: &BertConfig) -> Block {
    let children = [
        child("attention", attention(config)),
        child("intermediate", intermediate(config)),
        child("output", add_norm("Output", config.intermediate, config)),
    ];
    block(format!("{}Layer", config.prefix), children, |cx, [attention, intermediate, output], inputs: &[_; 2]| {
        let x = attention.call_with(cx, inputs)?;
        let inner = intermediate.call(cx, &x)?;
        output.call_with(cx, &[inner, x])
    })
}

fn attention(config: &BertConfig) -> Block {
    let inner = self_attention(format!("{}SelfAttention", config.prefix), config.hidden, config.heads);
    let children = [child("self", inner), child("output", add_norm("SelfOutput", config.hidden, config))];
    block(format!("{}Attention", config.prefix), children, |cx, [inner, output], inputs @ [x, _]| {
        let context = inner.call_with(cx, inputs)?;
        output.call_with(cx, &[context, x.clone()])
    })
}

/// `BertSelfOutput` and `BertOutput`: a linear layer, the residual, the normalisation.
fn add_norm(class: &str, features: u64, config: &BertConfig) -> Block {
    let children = [
        child("dense", Linear::new(features, config.hidden)),
        child("LayerNorm", LayerNorm::new(config.hidden, config.eps)),
    ];
    block(format!("{}{class}", config.prefix), children, |cx, [dense, norm], [x, residual]| {
        let x = dense.call(cx, x)?;
        let x = cx.add(&x, residual)?;
        norm.call(cx, &x)
    })
}

fn intermediate(config: &BertConfig) -> Block {
    let dense = child("dense", Linear::new(config.hidden, config.intermediate));
    stack(format!("{}Intermediate", config.prefix), [dense, child("intermediate_act_fn", Gelu)])
}

fn pooler(config: &BertConfig) -> Block {
    let children = [child("dense", Linear::new(config.hidden, config.hidden)), child("activation", Tanh)];
    block(format!("{}Pooler", config.prefix), children, |cx, [dense, activation], [x]| {
        let first = cx.select(x, 1, 0)?;
        let x = dense.call(cx, &first)?;
        activation.call(cx, &x)
    })
}
