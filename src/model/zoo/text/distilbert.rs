//! DistilBERT (`transformers/models/distilbert/modeling_distilbert.py`).

use crate::nn::{Block, Embedding, Gelu, LayerNorm, Linear, Positions, block, child, stack};
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

/// `DistilBertModel`: last hidden state. Inputs: ids and attention mask, `[b, s]`.
pub fn distilbert(config: &DistilBertConfig) -> Block {
    let layers = (0..config.layers).map(|n| child(format!("layer.{n}"), layer(config)));
    let children = [child("embeddings", embeddings(config)), child("transformer", stack("Transformer", layers))];
    block("DistilBertModel", children, |cx, [embeddings, transformer], [ids, mask]| {
        let mask = extended_mask(cx, mask)?;
        let x = embeddings.call(cx, ids)?;
        transformer.call_with(cx, &[x, mask])
    })
}

fn embeddings(config: &DistilBertConfig) -> Block {
    let children = [
        child("word_embeddings", Embedding::new(config.vocab, config.dim)),
        child("position_embeddings", Positions::new(config.positions, config.dim, 0)),
        child("LayerNorm", LayerNorm::new(config.dim, EPS)),
    ];
    block("Embeddings", children, |cx, [words, positions, norm], [ids]| {
        let x = words.call(cx, ids)?;
        let positions = positions.call(cx, ids)?;
        let x = cx.add(&x, &positions)?;
        norm.call(cx, &x)
    })
}

fn layer(config: &DistilBertConfig) -> Block {
    let ffn = [
        child("lin1", Linear::new(config.dim, config.hidden)),
        child("activation", Gelu),
        child("lin2", Linear::new(config.hidden, config.dim)),
    ];
    let children = [
        child("attention", attention(config)),
        child("sa_layer_norm", LayerNorm::new(config.dim, EPS)),
        child("ffn", stack("FFN", ffn)),
        child("output_layer_norm", LayerNorm::new(config.dim, EPS)),
    ];
    block("TransformerBlock", children, |cx, [attention, sa_layer_norm, ffn, output_layer_norm], inputs @ [x, _]| {
        let attended = attention.call_with(cx, inputs)?;
        let attended = cx.add(&attended, x)?;
        let x = sa_layer_norm.call(cx, &attended)?;
        let inner = ffn.call(cx, &x)?;
        let inner = cx.add(&inner, &x)?;
        output_layer_norm.call(cx, &inner)
    })
}

fn attention(config: &DistilBertConfig) -> Block {
    let linear = |name| child(name, Linear::new(config.dim, config.dim));
    let children = ["q_lin", "k_lin", "v_lin", "out_lin"].map(linear);
    let heads = config.heads;
    let divisor = u64_to_f32(config.dim / heads.max(1)).sqrt();
    block("MultiHeadSelfAttention", children, move |cx, [q_lin, k_lin, v_lin, out_lin], [x, mask]| {
        let q = q_lin.call(cx, x)?;
        let q = split_heads(cx, &q, heads)?;
        let k = k_lin.call(cx, x)?;
        let k = split_heads(cx, &k, heads)?;
        let v = v_lin.call(cx, x)?;
        let v = split_heads(cx, &v, heads)?;
        let q = cx.scalar(BinaryOp::Div, &q, divisor)?;
        let x = cx.attention([&q, &k, &v], None, Some(mask))?;
        let x = merge_heads(cx, &x)?;
        out_lin.call(cx, &x)
    })
}
