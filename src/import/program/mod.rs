//! Programs: what every reader makes of a model file, and what everything behind the readers works on.
//!
//! A program has XLA's operations with XLA's meaning, for any element type: wider than the compiler's own HLO, which holds what the
//! code generator can place on an engine. `compiler` is reached by making the one of the other.

pub mod builder;
pub mod compose;
mod element;
mod module;
mod op;
mod types;
mod value;

pub use builder::{BuildError, Builder, Built};
pub use element::{ElementType, wrap};
pub use module::{
    Computation, ComputationId, Instruction, InstructionId, Origin, Program, ProgramParameter, Role, WeightData,
};
pub use op::{Binary, Comparison, ConvolutionDims, DotDims, Foreign, GatherDims, Op, ScatterDims, Unary, WindowDim};
pub use types::{ArrayType, Type};
pub use value::{Numbers, Value};
