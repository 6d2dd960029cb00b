//! Layers without weights.

use crate::model::{Ctx, ModelError, Module, Value};

/// `torch.nn.ReLU`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReLU;

impl Module for ReLU {
    fn class(&self) -> &str {
        "ReLU"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, ModelError> {
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

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, ModelError> {
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

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, ModelError> {
        let x = cx.one_input(inputs)?;
        cx.log_softmax(x, self.dim)
    }
}
