//! Layers without weights.

use crate::{Ctx, Module, Value};
use ns_base::Refusal;
use ns_tensor::kernels::BinaryOp;

/// `torch.nn.ReLU`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReLU;

impl Module for ReLU {
    fn class(&self) -> &str {
        "ReLU"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.relu(x)
    }
}

/// `torch.nn.Tanh`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tanh;

impl Module for Tanh {
    fn class(&self) -> &str {
        "Tanh"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.tanh(x)
    }
}

/// `torch.nn.LogSoftmax`.
#[derive(Clone, Copy, Debug)]
pub struct LogSoftmax {
    dim: u32,
}

impl LogSoftmax {
    /// Along a dimension.
    #[must_use]
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

/// `torch.nn.GELU`, with the class name that a model library uses.
#[derive(Clone, Copy, Debug)]
pub struct Gelu {
    class: &'static str,
}

impl Gelu {
    /// `transformers.activations.GELUActivation`.
    #[must_use]
    pub const fn activation() -> Self {
        Self { class: "GELUActivation" }
    }
}

impl Module for Gelu {
    fn class(&self) -> &str {
        self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.gelu(x)
    }
}

/// `transformers.activations.NewGELUActivation`: the tanh approximation, op by op as in its code.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewGelu;

impl Module for NewGelu {
    fn class(&self) -> &str {
        "NewGELUActivation"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        /// `sqrt(2 / pi)`
        const FACTOR: f32 = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2;
        let x = cx.one_input(inputs)?;
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
}

/// `transformers.activations.QuickGELUActivation`: `x * sigmoid(1.702 x)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuickGelu;

impl Module for QuickGelu {
    fn class(&self) -> &str {
        "QuickGELUActivation"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let scaled = cx.scalar(BinaryOp::Mul, x, 1.702)?;
        let gate = cx.sigmoid(&scaled)?;
        cx.mul(x, &gate)
    }
}

/// `torch.nn.SiLU`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiLU;

impl Module for SiLU {
    fn class(&self) -> &str {
        "SiLU"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.silu(x)
    }
}

/// `torch.nn.Dropout` at inference: the identity. It keeps the numbering of sequences.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dropout;

impl Module for Dropout {
    fn class(&self) -> &str {
        "Dropout"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        Ok(cx.one_input(inputs)?.clone())
    }
}
