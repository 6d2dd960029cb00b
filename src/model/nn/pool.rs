//! Pooling of images.

use crate::{Ctx, Module, Value};
use ns_base::Refusal;

/// `torch.nn.MaxPool2d` with a square window.
#[derive(Clone, Copy, Debug)]
pub struct MaxPool2d {
    size: u64,
    stride: u64,
    padding: u64,
}

impl MaxPool2d {
    /// A window of `size`, moved by `stride`.
    pub const fn new(size: u64, stride: u64, padding: u64) -> Self {
        Self { size, stride, padding }
    }
}

impl Module for MaxPool2d {
    fn class(&self) -> &str {
        "MaxPool2d"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.max_pool2d(x, self.size, self.stride, self.padding)
    }
}

/// `torch.nn.AdaptiveAvgPool2d` to a square.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveAvgPool2d {
    size: u64,
}

impl AdaptiveAvgPool2d {
    /// A pooling to `size` by `size`.
    pub const fn new(size: u64) -> Self {
        Self { size }
    }
}

impl Module for AdaptiveAvgPool2d {
    fn class(&self) -> &str {
        "AdaptiveAvgPool2d"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        cx.adaptive_avg_pool2d(x, self.size)
    }
}
