//! Layers without weights.

#![expect(non_upper_case_globals, reason = "layers are named as in torch.nn")]

use crate::{Ctx, Module, Value};
use ns_base::Refusal;
use ns_tensor::kernels::BinaryOp;

/// A layer that is a function of one value.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    class: &'static str,
    f: fn(&mut Ctx, &Value) -> Result<Value, Refusal>,
}

impl Module for Function {
    fn class(&self) -> &str {
        self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        (self.f)(cx, cx.one_input(inputs)?)
    }
}

/// `torch.nn.ReLU`.
pub const ReLU: Function = Function { class: "ReLU", f: Ctx::relu };

/// `torch.nn.Tanh`.
pub const Tanh: Function = Function { class: "Tanh", f: Ctx::tanh };

/// `torch.nn.SiLU`.
pub const SiLU: Function = Function { class: "SiLU", f: Ctx::silu };

/// `transformers.activations.GELUActivation`.
pub const Gelu: Function = Function { class: "GELUActivation", f: Ctx::gelu };

/// `transformers.activations.NewGELUActivation`: the tanh approximation, op by op as in its code.
pub const NewGelu: Function = Function { class: "NewGELUActivation", f: new_gelu };

/// `transformers.activations.QuickGELUActivation`: `x * sigmoid(1.702 x)`.
pub const QuickGelu: Function = Function { class: "QuickGELUActivation", f: quick_gelu };

/// `torch.nn.Dropout` at inference: the identity. It keeps the numbering of sequences.
pub const Dropout: Function = Function { class: "Dropout", f: |_, x| Ok(x.clone()) };

fn new_gelu(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    /// `sqrt(2 / pi)`
    const FACTOR: f32 = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2;
    let square = cx.mul(x, x)?;
    let cube = cx.mul(&square, x)?;
    let cube = cx.scalar(BinaryOp::Mul, &cube, 0.044_715)?;
    let inner = cx.add(x, &cube)?;
    let inner = cx.scalar(BinaryOp::Mul, &inner, FACTOR)?;
    let tanh = cx.tanh(&inner)?;
    let gate = cx.scalar(BinaryOp::Add, &tanh, 1.0)?;
    let half = cx.scalar(BinaryOp::Mul, x, 0.5)?;
    cx.mul(&half, &gate)
}

fn quick_gelu(cx: &mut Ctx, x: &Value) -> Result<Value, Refusal> {
    let scaled = cx.scalar(BinaryOp::Mul, x, 1.702)?;
    let gate = cx.sigmoid(&scaled)?;
    cx.mul(x, &gate)
}

/// `torch.nn.LogSoftmax`.
#[derive(Clone, Copy, Debug)]
pub struct LogSoftmax {
    dim: u32,
}

impl LogSoftmax {
    /// Along a dimension.
    pub const fn new(dim: u32) -> Self {
        Self { dim }
    }
}

impl Module for LogSoftmax {
    fn class(&self) -> &str {
        "LogSoftmax"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.log_softmax(x, self.dim)
    }
}
