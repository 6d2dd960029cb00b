//! Normalisations. Weights and statistics are drawn around the values after training, not PyTorch's ones and zeros.

use crate::{Ctx, Init, Module, Parameter, Value};
use ns_base::Refusal;

const SCALE: Init = Init::Range { low: 0.5, high: 1.5 };
const SHIFT: Init = Init::Range { low: -0.25, high: 0.25 };

/// `torch.nn.BatchNorm2d` at inference.
#[derive(Clone, Debug)]
pub struct BatchNorm2d {
    weight: Parameter,
    bias: Parameter,
    running_mean: Parameter,
    running_var: Parameter,
    eps: f32,
}

impl BatchNorm2d {
    /// A normalisation of this many channels.
    pub fn new(channels: u64) -> Self {
        Self {
            weight: Parameter::new("weight", [channels], SCALE),
            bias: Parameter::new("bias", [channels], SHIFT),
            running_mean: Parameter::buffer("running_mean", [channels], SHIFT),
            running_var: Parameter::buffer("running_var", [channels], SCALE),
            eps: 1e-5,
        }
    }
}

impl Module for BatchNorm2d {
    fn class(&self) -> &str {
        "BatchNorm2d"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let (weight, bias) = (cx.weight(&self.weight)?, cx.weight(&self.bias)?);
        let (mean, variance) = (cx.weight(&self.running_mean)?, cx.weight(&self.running_var)?);
        cx.batch_norm(x, [&weight, &bias, &mean, &variance], self.eps)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight, &self.bias, &self.running_mean, &self.running_var]
    }
}

/// `torch.nn.LayerNorm` over the last dimension.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    weight: Parameter,
    bias: Parameter,
    eps: f32,
}

impl LayerNorm {
    /// A normalisation of this many features.
    pub fn new(features: u64, eps: f32) -> Self {
        Self {
            weight: Parameter::new("weight", [features], SCALE),
            bias: Parameter::new("bias", [features], SHIFT),
            eps,
        }
    }
}

impl Module for LayerNorm {
    fn class(&self) -> &str {
        "LayerNorm"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let (weight, bias) = (cx.weight(&self.weight)?, cx.weight(&self.bias)?);
        cx.layer_norm(x, &weight, &bias, self.eps)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight, &self.bias]
    }
}

/// `LlamaRMSNorm`: root mean square normalisation over the last dimension.
#[derive(Clone, Debug)]
pub struct RmsNorm {
    weight: Parameter,
    eps: f32,
}

impl RmsNorm {
    /// A normalisation of this many features.
    pub fn new(features: u64, eps: f32) -> Self {
        Self { weight: Parameter::new("weight", [features], SCALE), eps }
    }
}

impl Module for RmsNorm {
    fn class(&self) -> &str {
        "LlamaRMSNorm"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let weight = cx.weight(&self.weight)?;
        cx.rms_norm(x, &weight, self.eps)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight]
    }
}
