//! Attention as in BERT and similar models, and functions shared with other blocks.

use crate::nn::Linear;
use crate::{Child, Ctx, Entry, Module, Value};
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

/// `BertSelfAttention`, also ViT's: queries, keys and values, each from one linear layer.
pub struct SelfAttention {
    class: String,
    query: Child<Linear>,
    key: Child<Linear>,
    value: Child<Linear>,
    heads: u64,
    head_size: u64,
}

impl SelfAttention {
    /// Attention of this many features in `heads` heads.
    #[must_use]
    pub fn new(class: String, hidden: u64, heads: u64) -> Self {
        let linear = |name: &str| Child::new(name, Linear::new(hidden, hidden));
        Self {
            class,
            query: linear("query"),
            key: linear("key"),
            value: linear("value"),
            heads,
            head_size: hidden / heads.max(1),
        }
    }
}

impl Module for SelfAttention {
    fn class(&self) -> &str {
        &self.class
    }

    /// Inputs: `[b, s, h]` and, optionally, a mask to add.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask @ ..] = inputs else {
            return Err(cx.wrong_inputs(1, 0));
        };
        let q = self.query.call(cx, x)?;
        let k = self.key.call(cx, x)?;
        let v = self.value.call(cx, x)?;
        let k = split_heads(cx, &k, self.heads)?;
        let v = split_heads(cx, &v, self.heads)?;
        let q = split_heads(cx, &q, self.heads)?;
        let scale = (BinaryOp::Div, u64_to_f32(self.head_size).sqrt());
        let context = cx.attention([&q, &k, &v], Some(scale), mask.first())?;
        merge_heads(cx, &context)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.query.entry(), self.key.entry(), self.value.entry()]
    }
}
