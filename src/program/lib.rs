//! Programs: what every reader of model files makes, and the input of all later stages.
//!
//! A [`Program`] has XLA's operations with XLA's meaning, for any element type, each with its module scope. It can hold more than the
//! compiler's own HLO, which has only what the code generator can place on an engine; `ns_compiler` translates one to the other.
//!
//! Start with:
//! - [`Program`] in `module.rs`: computations of instructions. [`Op`] lists the operations.
//! - [`Builder`], which makes one: typed pushes, each of which infers the type of its result and refuses operands that do not fit.
//!   [`compose`] has the operators of frameworks that XLA does not have (softmax, attention ..), composed of XLA's.
//! - [`eval::evaluate`], which computes its values one operation after another: the reference for the numbers of a device.
//! - [`file`](mod@file), which says whether a file is a model and in which format, without a reader.
//!
//! A program from a file comes as an [`ImportedModel`], with an [`Inspection`]: what the file holds, in its format's own terms. A shell passes
//! the function that reads files ([`ReadModel`]), so nothing above this crate needs the readers (`ns_readers`) to use a model. On the page the
//! readers are a program of their own: [`read_elsewhere`] asks it.
//!
//! Invariants:
//! - [`verify`] accepts the program of every reader: operands stand before their users, and types are those that [`infer`] gives.
//! - An operation without a known meaning is [`Op::Opaque`] with a type, and the inspection lists it.
//! - No size is open: readers put numbers in their place.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod builder;
mod bytes;
pub mod calls;
mod compare;
pub mod compose;
mod computation_builder;
mod element;
mod error;
pub mod eval;
pub mod file;
mod flops;
mod import;
pub mod infer;
mod inspection;
mod load;
mod module;
mod op;
mod operator_kind;
mod prune;
mod rebatch;
mod remote;
pub mod round;
mod trips;
mod types;
mod value;
mod verify;
mod written_out;

pub use builder::{Builder, Built};
pub use bytes::numbers_of_bytes;
pub use compare::{ResultComparison, compare, results};
pub use computation_builder::ComputationBuilder;
pub use element::ElementType;
pub use error::{ImportError, Place};
pub use flops::{ProgramFlops, flops, instruction_flops};
pub use import::{ImportOptions, ImportedModel, ReadModel};
pub use inspection::{Inspection, OpenDimension, TensorInfo, UnsupportedOp, Verdict, occurrence};
pub use load::{load_parameter, value_of_bytes};
pub use module::{
    Computation, ComputationId, DataBeside, Instruction, InstructionId, Origin, Program, ProgramParameter, Role,
    WeightData,
};
pub use op::{Binary, Comparison, ConvolutionDims, DotDims, Foreign, GatherDims, Op, ScatterDims, Unary, WindowDim};
pub use operator_kind::OperatorKind;
pub use prune::prune;
pub use rebatch::rebatch;
pub use remote::{answer, read_elsewhere};
pub use trips::{TripCounts, chosen_branch};
pub use types::{ArrayType, Type};
pub use value::{Numbers, Value};
pub use verify::{check_sizes, verify};
pub use written_out::written_out;
