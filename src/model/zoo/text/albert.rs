//! ALBERT (`transformers/models/albert/modeling_albert.py`): one layer, applied repeatedly.

use crate::nn::{Block, Embedding, LayerNorm, Linear, NewGelu, Positions, Tanh, block, child, stack};
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

/// `AlbertModel`: last hidden state, and the pooled first token. Inputs: ids, attention mask and token types, `[b, s]`.
pub fn albert(config: &AlbertConfig) -> Block {
    let children = [
        child("embeddings", embeddings(config)),
        child("encoder", transformer(config)),
        child("pooler", Linear::new(config.hidden, config.hidden)),
        child("pooler_activation", Tanh),
    ];
    block("AlbertModel", children, |cx, [embeddings, encoder, pooler, pooler_activation], [ids, mask, types]| {
        let mask = extended_mask(cx, mask)?;
        let x = embeddings.call_with(cx, &[ids.clone(), types.clone()])?;
        let x = encoder.call_with(cx, &[x, mask])?;
        let first = cx.select(&x, 1, 0)?;
        let pooled = pooler.call(cx, &first)?;
        let pooled = pooler_activation.call(cx, &pooled)?;
        cx.tuple(&[&x, &pooled])
    })
}

fn embeddings(config: &AlbertConfig) -> Block {
    let features = config.embedding;
    let children = [
        child("word_embeddings", Embedding::new(config.vocab, features)),
        child("position_embeddings", Positions::new(config.positions, features, 0)),
        child("token_type_embeddings", Embedding::new(2, features)),
        child("LayerNorm", LayerNorm::new(features, EPS)),
    ];
    block("AlbertEmbeddings", children, |cx, [words, positions, token_types, norm], [ids, types]| {
        let words = words.call(cx, ids)?;
        let types = token_types.call(cx, types)?;
        let x = cx.add(&words, &types)?;
        let positions = positions.call(cx, ids)?;
        let x = cx.add(&x, &positions)?;
        norm.call(cx, &x)
    })
}

fn transformer(config: &AlbertConfig) -> Block {
    let group = stack("AlbertLayerGroup", [child("albert_layers.0", layer(config))]);
    let children = [
        child("embedding_hidden_mapping_in", Linear::new(config.embedding, config.hidden)),
        child("albert_layer_groups.0", group),
    ];
    let layers = config.layers;
    block("AlbertTransformer", children, move |cx, [mapping, group], [x, mask]| {
        let mut x = mapping.call(cx, x)?;
        for _ in 0..layers {
            x = group.call_with(cx, &[x, mask.clone()])?;
        }
        Ok(x)
    })
}

fn layer(config: &AlbertConfig) -> Block {
    let children = [
        child("full_layer_layer_norm", LayerNorm::new(config.hidden, EPS)),
        child("attention", attention(config)),
        child("ffn", Linear::new(config.hidden, config.intermediate)),
        child("ffn_output", Linear::new(config.intermediate, config.hidden)),
        child("activation", NewGelu),
    ];
    block("AlbertLayer", children, |cx, [norm, attention, ffn, ffn_output, activation], inputs: &[_; 2]| {
        let x = attention.call_with(cx, inputs)?;
        let inner = ffn.call(cx, &x)?;
        let inner = activation.call(cx, &inner)?;
        let inner = ffn_output.call(cx, &inner)?;
        let inner = cx.add(&inner, &x)?;
        norm.call(cx, &inner)
    })
}

fn attention(config: &AlbertConfig) -> Block {
    let linear = |name| child(name, Linear::new(config.hidden, config.hidden));
    let norm = child("LayerNorm", LayerNorm::new(config.hidden, EPS));
    let children = [linear("query"), linear("key"), linear("value"), linear("dense"), norm];
    let heads = config.heads;
    let scale = (BinaryOp::Div, u64_to_f32(config.hidden / heads.max(1)).sqrt());
    block("AlbertAttention", children, move |cx, [query, key, value, dense, norm], [x, mask]| {
        let q = query.call(cx, x)?;
        let k = key.call(cx, x)?;
        let v = value.call(cx, x)?;
        let q = split_heads(cx, &q, heads)?;
        let k = split_heads(cx, &k, heads)?;
        let v = split_heads(cx, &v, heads)?;
        let context = cx.attention([&q, &k, &v], Some(scale), Some(mask))?;
        let context = merge_heads(cx, &context)?;
        let context = dense.call(cx, &context)?;
        let sum = cx.add(x, &context)?;
        norm.call(cx, &sum)
    })
}
