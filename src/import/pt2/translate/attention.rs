//! Attention.

use super::call::{Call, Done, Made, one};
use crate::program::compose::{Attention, attention};

/// Translates the variants of scaled dot-product attention.
///
/// # Errors
/// When arguments do not fit.
pub fn translate(c: &mut Call<'_, '_, '_>) -> Made {
    let is_plain = c.op == "scaled_dot_product_attention";
    if !is_plain && (!c.op.starts_with("_scaled_dot_product") || c.op.ends_with("backward")) {
        return Ok(Done::Unknown);
    }
    if c.float_or("dropout_p", 0.0) != 0.0 {
        return Ok(Done::Unknown);
    }
    let mask = match c.tensor("attn_mask")? {
        None => c.tensor("attn_bias")?,
        mask => mask,
    };
    let how = Attention { mask, is_causal: c.flag_or("is_causal", false), past: 0, scale: c.float("scale") };
    let (q, k, v) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let value = attention(c.b(), q, k, v, how)?;
    if is_plain {
        return one(value);
    }
    // Results that only the backward pass uses are left out.
    let others = c.results()?.len().saturating_sub(1);
    let mut values = vec![Some(value)];
    values.extend(vec![None; others]);
    Ok(Done::Many(values))
}
