//! A single operator with given shapes as a model: `op:name=matmul,shapes=1024x1024_1024x1024`.
//!
//! It is not listed in the zoo, because users do not look for operators there; every command that takes a specification
//! accepts it.

mod module;
mod names;
mod shapes;

pub use names::{OPERATORS, OperatorInfo, operator};
pub use shapes::{parse_shapes, print_shapes};

use super::{ModelInfo, ParamInfo, ParamKind};
use crate::{Distribution, InputSpec};
use module::Operator;
use ns_tensor::Shape;

/// Name of the model in specifications.
pub const OPERATOR_MODEL: &str = "op";

pub(super) static INFO: ModelInfo = ModelInfo {
    id: OPERATOR_MODEL,
    description: "A single operator with given shapes",
    default_batch_size: 1,
    batch_help: "batch size b multiplies the first dimension of the first shape",
    parameters: &[
        ParamInfo { name: "name", help: "the operator", kind: ParamKind::Operator { default: "matmul" } },
        ParamInfo {
            name: "shapes",
            help: "its operands: 1024x1024_1024x1024; the first is the input of a call, the others stay on the device",
            kind: ParamKind::Shapes,
        },
        ParamInfo {
            name: "loop_count",
            help: "times it is applied in a call, each time to the result before",
            kind: ParamKind::Int { default: 1, min: 1, max: 10_000 },
        },
        ParamInfo {
            name: "stride",
            help: "of the window of conv2d and max_pool2d",
            kind: ParamKind::Int { default: 1, min: 1, max: 64 },
        },
        ParamInfo {
            name: "padding",
            help: "zeros on each side of the image of conv2d",
            kind: ParamKind::Int { default: 0, min: 0, max: 64 },
        },
    ],
    build: |s| Box::new(Operator::new(s)),
    inputs: |s, batch| {
        let mut dims = names::shapes_of(s).into_iter().next().unwrap_or_default();
        if let Some(first) = dims.first_mut() {
            *first = first.saturating_mul(batch);
        }
        vec![InputSpec { shape: Shape::f32(dims), distribution: Distribution::Normal }]
    },
};
