//! Convolutions of images `[n, c, h, w]`.

use crate::{ConvArgs, Ctx, Init, Module, Parameter, Value};
use ns_base::Refusal;

/// `torch.nn.Conv2d` with a square kernel.
#[derive(Clone, Debug)]
pub struct Conv2d {
    weight: Parameter,
    bias: Option<Parameter>,
    args: ConvArgs,
}

impl Conv2d {
    /// A convolution with bias.
    pub fn new(in_channels: u64, out_channels: u64, kernel: u64, args: ConvArgs) -> Self {
        let depth = (in_channels / args.groups.max(1)).saturating_mul(kernel).saturating_mul(kernel);
        let init = Init::linear_default(depth);
        let dims = [out_channels, in_channels / args.groups.max(1), kernel, kernel];
        let weight = Parameter::new("weight", dims, init);
        Self { weight, bias: Some(Parameter::new("bias", [out_channels], init)), args }
    }

    /// The same layer without bias.
    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }
}

impl Module for Conv2d {
    fn class(&self) -> &str {
        "Conv2d"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let weight = cx.weight(&self.weight)?;
        let bias = self.bias.as_ref().map(|b| cx.weight(b)).transpose()?;
        cx.conv2d(x, &weight, bias.as_ref(), self.args)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        std::iter::once(&self.weight).chain(&self.bias).collect()
    }
}

/// `torch.nn.ConvTranspose2d` with a square kernel, bias and no padding.
#[derive(Clone, Debug)]
pub struct ConvTranspose2d {
    weight: Parameter,
    bias: Parameter,
    stride: u64,
}

impl ConvTranspose2d {
    pub fn new(in_channels: u64, out_channels: u64, kernel: u64, stride: u64) -> Self {
        let init = Init::linear_default(out_channels.saturating_mul(kernel).saturating_mul(kernel));
        Self {
            weight: Parameter::new("weight", [in_channels, out_channels, kernel, kernel], init),
            bias: Parameter::new("bias", [out_channels], init),
            stride,
        }
    }
}

impl Module for ConvTranspose2d {
    fn class(&self) -> &str {
        "ConvTranspose2d"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let (weight, bias) = (cx.weight(&self.weight)?, cx.weight(&self.bias)?);
        cx.conv_transpose2d(x, &weight, Some(&bias), self.stride, 0)
    }

    fn parameters(&self) -> Vec<&Parameter> {
        vec![&self.weight, &self.bias]
    }
}
