//! Models as the user writes them: modules in the style of `torch.nn`, the graph of aten ops that a tracer makes from them, and
//! a zoo.
//!
//! A model's [`Module::forward`] is written once against [`Ctx`]. Under [`trace`] it records aten ops, each with the
//! module scope in which it was called; under [`run_eager`] the same calls compute values.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod context;
mod eager;
mod evaluate;
mod functions;
mod graph;
mod infer;
mod module;
pub mod nn;
mod op;
mod parameter;
mod tracer;
pub mod training;
pub mod zoo;

pub use context::{Ctx, Value};
pub use eager::{ranges, window_elements};
pub use evaluate::evaluate;
pub use functions::ConvArgs;
pub use graph::{Graph, Node, NodeId, WeightInfo};
pub use module::{Child, Entry, Module, named_parameters};
pub use op::AtenOp;
pub use parameter::{Distribution, Init, InputSpec, Parameter, input_tensor, input_tensors, weight_tensor};
pub use tracer::{run_eager, trace};
pub use zoo::ModelSpec;
