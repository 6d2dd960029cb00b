//! Attention as in BERT and similar models, and functions shared with other blocks.

use std::borrow::Cow;

use crate::nn::{Block, Linear, block_with, child};
use crate::{Ctx, Value};
use ns_base::Refusal;
use ns_base::convert::u64_to_f32;
use ns_tensor::DType;
use ns_tensor::kernels::BinaryOp;

/// `[b, s, heads * d]` as `[b, heads, s, d]`.
pub fn split_heads(cx: &mut Ctx, x: &Value, heads: u64) -> Result<Value, Refusal> {
    let &[batch, seq, width] = x.dims() else { return cx.view(x, &[]) };
    let x = cx.view(x, &[batch, seq, heads, width / heads.max(1)])?;
    cx.permute(&x, &[0, 2, 1, 3])
}

/// `[b, heads, s, d]` as `[b, s, heads * d]`.
pub fn merge_heads(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    let &[batch, heads, seq, size] = x.dims() else { return cx.view(x, &[]) };
    let x = cx.permute(x, &[0, 2, 1, 3])?;
    cx.view(&x, &[batch, seq, heads.saturating_mul(size)])
}

/// A mask `[b, s]` of ones and zeros as numbers to add to scores `[b, heads, q, s]`: zero, or the most negative
/// number.
pub fn extended_mask(cx: &mut Ctx, mask: &Value) -> Result<Value, Refusal> {
    let &[batch, seq] = mask.dims() else { return cx.view(mask, &[]) };
    let mask = cx.view(mask, &[batch, 1, 1, seq])?;
    let mask = cx.to(&mask, DType::F32)?;
    let hidden = cx.rsub(1.0, &mask)?;
    cx.scalar(BinaryOp::Mul, &hidden, f32::MIN)
}

/// `BertSelfAttention`, also ViT's: queries, keys and values, each from one linear layer. Inputs: `[b, s, h]` and, optionally, a
/// mask to add.
pub fn self_attention(class: impl Into<Cow<'static, str>>, hidden: u64, heads: u64) -> Block {
    let linear = |name| child(name, Linear::new(hidden, hidden));
    let scale = (BinaryOp::Div, u64_to_f32(hidden / heads.max(1)).sqrt());
    block_with(class, ["query", "key", "value"].map(linear), move |cx, [query, key, value], [x], mask| {
        let q = query.call(cx, x)?;
        let k = key.call(cx, x)?;
        let v = value.call(cx, x)?;
        let k = split_heads(cx, &k, heads)?;
        let v = split_heads(cx, &v, heads)?;
        let q = split_heads(cx, &q, heads)?;
        let context = cx.attention([&q, &k, &v], Some(scale), mask.first())?;
        merge_heads(cx, &context)
    })
}
