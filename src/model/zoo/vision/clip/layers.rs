//! The layers of both towers.

use std::slice;

use crate::nn::{Block, LayerNorm, Linear, QuickGelu, block_with, child, stack};
use crate::zoo::text::{merge_heads, split_heads};
use ns_base::convert::u64_to_f32;
use ns_tensor::kernels::BinaryOp;

use super::Tower;

/// Added to variances.
pub(super) const EPS: f32 = 1e-5;

/// Inputs: tokens and, in the text tower, a mask to add.
pub(super) fn encoder(tower: &Tower) -> Block {
    stack("CLIPEncoder", (0..tower.layers).map(|n| child(format!("layers.{n}"), layer(tower))))
}

fn layer(tower: &Tower) -> Block {
    let mlp = [
        child("fc1", Linear::new(tower.hidden, tower.intermediate)),
        child("activation_fn", QuickGelu),
        child("fc2", Linear::new(tower.intermediate, tower.hidden)),
    ];
    let children = [
        child("self_attn", attention(tower)),
        child("layer_norm1", LayerNorm::new(tower.hidden, EPS)),
        child("mlp", stack("CLIPMLP", mlp)),
        child("layer_norm2", LayerNorm::new(tower.hidden, EPS)),
    ];
    block_with("CLIPEncoderLayer", children, |cx, [self_attn, layer_norm1, mlp, layer_norm2], [x], mask| {
        let normal = layer_norm1.call(cx, x)?;
        let attended = self_attn.call_with(cx, &[slice::from_ref(&normal), mask].concat())?;
        let x = cx.add(x, &attended)?;
        let inner = layer_norm2.call(cx, &x)?;
        let inner = mlp.call(cx, &inner)?;
        cx.add(&x, &inner)
    })
}

fn attention(tower: &Tower) -> Block {
    let linear = |name| child(name, Linear::new(tower.hidden, tower.hidden));
    let children = ["k_proj", "v_proj", "q_proj", "out_proj"].map(linear);
    let heads = tower.heads;
    let scale = 1.0 / u64_to_f32(tower.hidden / heads.max(1)).sqrt();
    block_with("CLIPAttention", children, move |cx, [k_proj, v_proj, q_proj, out_proj], [x], mask| {
        let q = q_proj.call(cx, x)?;
        let q = cx.scalar(BinaryOp::Mul, &q, scale)?;
        let k = k_proj.call(cx, x)?;
        let v = v_proj.call(cx, x)?;
        let k = split_heads(cx, &k, heads)?;
        let v = split_heads(cx, &v, heads)?;
        let q = split_heads(cx, &q, heads)?;
        let x = cx.attention([&q, &k, &v], None, mask.first())?;
        let x = merge_heads(cx, &x)?;
        out_proj.call(cx, &x)
    })
}
