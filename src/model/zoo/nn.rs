//! The model of the TensorBoard profiling tutorial.

use crate::nn::{Linear, ReLU, Tanh};
use crate::{Child, Ctx, Distribution, Entry, InputSpec, Module, Value};
use ns_base::Refusal;
use ns_tensor::Shape;

use super::ModelInfo;

/// Rows of the tutorial's `torch.rand(4, 4)`: one request.
const ROWS: u64 = 4;

pub(super) static INFO: ModelInfo = ModelInfo {
    id: "nn",
    description: "The profiling tutorial's network: Linear(4, 4), ReLU, Linear(4, 2), Tanh",
    default_batch_size: 1,
    batch_help: "one request is the tutorial's 4 rows: batch size b gives an input of [4b, 4]",
    parameters: &[],
    build: |_| Box::new(Nn::new()),
    inputs: |_, batch| {
        let shape = Shape::f32([batch.saturating_mul(ROWS), 4]);
        vec![InputSpec { shape, distribution: Distribution::Uniform }]
    },
};

/// `NN`: two small linear layers, the first with a ReLU, the second with a hyperbolic tangent.
#[derive(Clone, Debug)]
pub struct Nn {
    layer1: Child<Linear>,
    nl1: Child<ReLU>,
    layer2: Child<Linear>,
    nl2: Child<Tanh>,
}

impl Nn {
    /// The model of the tutorial.
    #[must_use]
    pub fn new() -> Self {
        Self {
            layer1: Child::new("layer1", Linear::new(4, 4)),
            nl1: Child::new("nl1", ReLU),
            layer2: Child::new("layer2", Linear::new(4, 2)),
            nl2: Child::new("nl2", Tanh),
        }
    }
}

impl Default for Nn {
    fn default() -> Self {
        Self::new()
    }
}

impl Module for Nn {
    fn class(&self) -> &str {
        "NN"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.layer1.call(cx, x)?;
        let x = self.nl1.call(cx, &x)?;
        let x = self.layer2.call(cx, &x)?;
        self.nl2.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.layer1.entry(), self.nl1.entry(), self.layer2.entry(), self.nl2.entry()]
    }
}
