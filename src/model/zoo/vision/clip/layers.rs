//! The layers of both towers.

use crate::nn::{LayerNorm, Linear, QuickGelu};
use crate::zoo::text::{merge_heads, split_heads};
use crate::{Child, Ctx, Entry, Module, Value};
use ns_base::Refusal;
use ns_base::convert::u64_to_f32;
use ns_tensor::kernels::BinaryOp;

use super::Tower;

/// Added to variances.
pub(super) const EPS: f32 = 1e-5;

pub(super) struct ClipEncoder {
    layers: Vec<Child<Layer>>,
}

impl ClipEncoder {
    pub(super) fn new(tower: &Tower) -> Self {
        Self { layers: (0..tower.layers).map(|n| Child::new(format!("layers.{n}"), Layer::new(tower))).collect() }
    }
}

impl Module for ClipEncoder {
    fn class(&self) -> &str {
        "CLIPEncoder"
    }

    /// Inputs: tokens and, in the text tower, a mask to add.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut values = inputs.to_vec();
        for layer in &self.layers {
            let x = layer.call_with(cx, &values)?;
            values.splice(..1, [x]);
        }
        values.into_iter().next().ok_or_else(|| none(cx))
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.layers.iter().map(Child::entry).collect()
    }
}

fn none(cx: &Ctx) -> Refusal {
    cx.wrong_inputs(1, 0)
}

struct Layer {
    self_attn: Child<Attention>,
    layer_norm1: Child<LayerNorm>,
    mlp: Child<Mlp>,
    layer_norm2: Child<LayerNorm>,
}

impl Layer {
    fn new(tower: &Tower) -> Self {
        let mlp = Mlp {
            fc1: Child::new("fc1", Linear::new(tower.hidden, tower.intermediate)),
            activation_fn: Child::new("activation_fn", QuickGelu),
            fc2: Child::new("fc2", Linear::new(tower.intermediate, tower.hidden)),
        };
        Self {
            self_attn: Child::new("self_attn", Attention::new(tower)),
            layer_norm1: Child::new("layer_norm1", LayerNorm::new(tower.hidden, EPS)),
            mlp: Child::new("mlp", mlp),
            layer_norm2: Child::new("layer_norm2", LayerNorm::new(tower.hidden, EPS)),
        }
    }
}

impl Module for Layer {
    fn class(&self) -> &str {
        "CLIPEncoderLayer"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask @ ..] = inputs else { return Err(none(cx)) };
        let mut attended = vec![self.layer_norm1.call(cx, x)?];
        attended.extend_from_slice(mask);
        let attended = self.self_attn.call_with(cx, &attended)?;
        let x = cx.add(x, &attended)?;
        let inner = self.layer_norm2.call(cx, &x)?;
        let inner = self.mlp.call(cx, &inner)?;
        cx.add(&x, &inner)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.self_attn.entry(), self.layer_norm1.entry(), self.mlp.entry(), self.layer_norm2.entry()]
    }
}

struct Mlp {
    fc1: Child<Linear>,
    activation_fn: Child<QuickGelu>,
    fc2: Child<Linear>,
}

impl Module for Mlp {
    fn class(&self) -> &str {
        "CLIPMLP"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.fc1.call(cx, x)?;
        let x = self.activation_fn.call(cx, &x)?;
        self.fc2.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.fc1.entry(), self.activation_fn.entry(), self.fc2.entry()]
    }
}

struct Attention {
    k_proj: Child<Linear>,
    v_proj: Child<Linear>,
    q_proj: Child<Linear>,
    out_proj: Child<Linear>,
    heads: u64,
    scale: f32,
}

impl Attention {
    fn new(tower: &Tower) -> Self {
        let linear = |name: &str| Child::new(name, Linear::new(tower.hidden, tower.hidden));
        let head_size = tower.hidden / tower.heads.max(1);
        Self {
            k_proj: linear("k_proj"),
            v_proj: linear("v_proj"),
            q_proj: linear("q_proj"),
            out_proj: linear("out_proj"),
            heads: tower.heads,
            scale: 1.0 / u64_to_f32(head_size).sqrt(),
        }
    }
}

impl Module for Attention {
    fn class(&self) -> &str {
        "CLIPAttention"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [x, mask @ ..] = inputs else { return Err(none(cx)) };
        let q = self.q_proj.call(cx, x)?;
        let q = cx.scalar(BinaryOp::Mul, &q, self.scale)?;
        let k = self.k_proj.call(cx, x)?;
        let v = self.v_proj.call(cx, x)?;
        let k = split_heads(cx, &k, self.heads)?;
        let v = split_heads(cx, &v, self.heads)?;
        let q = split_heads(cx, &q, self.heads)?;
        let x = cx.attention([&q, &k, &v], None, mask.first())?;
        let x = merge_heads(cx, &x)?;
        self.out_proj.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.k_proj.entry(), self.v_proj.entry(), self.q_proj.entry(), self.out_proj.entry()]
    }
}
