//! The model of the TensorBoard profiling tutorial.

use crate::nn::{Block, Linear, ReLU, Tanh, block, child};
use crate::{Distribution, InputSpec};
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
    build: |_| Box::new(tutorial_network()),
    inputs: |_, batch| {
        let shape = Shape::f32([batch.saturating_mul(ROWS), 4]);
        vec![InputSpec { shape, distribution: Distribution::Uniform }]
    },
};

/// `NN`: two small linear layers, the first with a ReLU, the second with a hyperbolic tangent.
pub fn tutorial_network() -> Block {
    let children = [
        child("layer1", Linear::new(4, 4)),
        child("nl1", ReLU),
        child("layer2", Linear::new(4, 2)),
        child("nl2", Tanh),
    ];
    block("NN", children, |cx, [layer1, nl1, layer2, nl2], [x]| {
        let x = layer1.call(cx, x)?;
        let x = nl1.call(cx, &x)?;
        let x = layer2.call(cx, &x)?;
        nl2.call(cx, &x)
    })
}
