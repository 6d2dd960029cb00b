//! `torch.nn.Linear`.

use crate::{Ctx, Init, Module, Parameter, Value};
use ns_base::Refusal;

/// `y = x @ weight^T + bias` over the last dimension.
#[derive(Clone, Debug)]
pub struct Linear {
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Linear {
    /// A layer with bias and PyTorch's default initialisation.
    pub fn new(in_features: u64, out_features: u64) -> Self {
        Self::with_bias(in_features, out_features, true)
    }

    /// A layer with or without bias.
    pub fn with_bias(in_features: u64, out_features: u64, bias: bool) -> Self {
        let init = Init::linear_default(in_features);
        Self {
            weight: Parameter::new("weight", [out_features, in_features], init),
            bias: bias.then(|| Parameter::new("bias", [out_features], init)),
        }
    }

    /// The same layer with another initialisation of its weight (`init.xavier_normal_(layer.weight)`).
    pub fn weight_init(mut self, init: Init) -> Self {
        self.weight.init = init;
        self
    }
}

impl Module for Linear {
    fn class(&self) -> &str {
        "Linear"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let weight = cx.weight(&self.weight)?;
        let bias = self.bias.as_ref().map(|b| cx.weight(b)).transpose()?;
        cx.linear(x, &weight, bias.as_ref())
    }

    fn parameters(&self) -> Vec<&Parameter> {
        std::iter::once(&self.weight).chain(&self.bias).collect()
    }
}
