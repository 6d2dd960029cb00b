//! Programs: the result of every reader, and the input of all later stages.
//!
//! A program has XLA's operations with XLA's meaning, for any element type. It can hold more than the compiler's own HLO, which has only what
//! the code generator can place on an engine. `compiler` translates a program to its HLO.

pub mod builder;
mod bytes;
pub mod compose;
mod computation_builder;
mod element;
mod flops;
pub mod infer;
mod module;
mod op;
mod prune;
pub(crate) mod round;
mod trips;
mod types;
mod value;
mod verify;

pub use builder::{Builder, Built};
pub use bytes::numbers_of_bytes;
pub use computation_builder::ComputationBuilder;
pub use element::ElementType;
pub use flops::{LoopBodies, flops, instruction_flops, reachable};
pub use module::{
    Computation, ComputationId, Instruction, InstructionId, Origin, Program, ProgramParameter, Role, WeightData,
};
pub use op::{Binary, Comparison, ConvolutionDims, DotDims, Foreign, GatherDims, Op, ScatterDims, Unary, WindowDim};
pub use prune::prune;
pub use trips::TripCounts;
pub use types::{ArrayType, Type};
pub use value::{Numbers, Value};
pub(super) use verify::check_sizes;
pub use verify::verify;
