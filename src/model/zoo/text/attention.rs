//! What attention blocks share.

use crate::model::{Ctx, ModelError, Value};
use crate::tensor::DType;
use crate::tensor::kernels::BinaryOp;

/// `[b, s, heads * d]` as `[b, heads, s, d]`.
pub fn split_heads(cx: &mut Ctx, x: &Value, heads: u64) -> Result<Value, ModelError> {
    let &[batch, seq, width] = x.dims() else { return cx.view(x, &[]) };
    let x = cx.view(x, &[batch, seq, heads, width / heads.max(1)])?;
    cx.permute(&x, &[0, 2, 1, 3])
}

/// `[b, heads, s, d]` as `[b, s, heads * d]`.
pub fn merge_heads(cx: &mut Ctx, x: &Value) -> Result<Value, ModelError> {
    let &[batch, heads, seq, size] = x.dims() else { return cx.view(x, &[]) };
    let x = cx.permute(x, &[0, 2, 1, 3])?;
    cx.view(&x, &[batch, seq, heads.saturating_mul(size)])
}

/// A mask `[b, s]` of ones and zeros as numbers to add to scores `[b, heads, q, s]`: zero, or the most negative one.
pub fn extended_mask(cx: &mut Ctx, mask: &Value) -> Result<Value, ModelError> {
    let &[batch, seq] = mask.dims() else { return cx.view(mask, &[]) };
    let mask = cx.view(mask, &[batch, 1, 1, seq])?;
    let mask = cx.to(&mask, DType::F32)?;
    let hidden = cx.rsub(1.0, &mask)?;
    cx.scalar(BinaryOp::Mul, &hidden, f32::MIN)
}
