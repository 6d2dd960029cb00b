//! Attention.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_program::OperatorKind::Product;
use ns_program::compose::{Attention, attention};

/// The variants of scaled dot-product attention.
pub const OPS: &[Row] = &[
    (&["scaled_dot_product_attention"], Product, translate),
    (&["_scaled_dot_product_attention_math", "_scaled_dot_product_attention_math_for_mps"], Product, translate),
    (&["_scaled_dot_product_cudnn_attention", "_scaled_dot_product_efficient_attention"], Product, translate),
    (&["_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu"], Product, translate),
    (&["_scaled_dot_product_fused_attention_overrideable"], Product, translate),
];

fn translate(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if c.float_or("dropout_p", 0.0) != 0.0 {
        return Ok(OpResult::Unknown);
    }
    let mask = match c.tensor("attn_mask")? {
        None => c.tensor("attn_bias")?,
        mask => mask,
    };
    let how = Attention { mask, is_causal: c.flag_or("is_causal", false), past: 0, scale: c.float("scale") };
    let (q, k, v) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let value = attention(c.b(), q, k, v, how)?;
    if c.op == "scaled_dot_product_attention" {
        return one(value);
    }
    // Results that only the backward pass uses are left out.
    let others = c.results()?.len().saturating_sub(1);
    let mut values = vec![Some(value)];
    values.extend(vec![None; others]);
    Ok(OpResult::Many(values))
}
