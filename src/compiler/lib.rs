//! From a graph of aten ops to an executable for a NeuronCore: HLO, lowering, passes, code generation.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod binding;
pub mod codegen;
mod error;
mod from_program;
pub mod hlo;
mod lowering;
mod options;
pub mod passes;
mod patterns;
mod pipeline;
mod workflow;

#[cfg(test)]
#[path = "../../tests/support/hlo_text.rs"]
mod hlo_text;

// The file above names this room as other rooms do.
#[cfg(test)]
extern crate self as ns_compiler;

pub use binding::parameter_values;
pub use codegen::modelled_compile_s;
pub use error::StageError;
pub use from_program::{GuessedCost, HloProgram, ProgramOutline, UnknownOpPolicy, engine_of, from_program, outline};
pub use lowering::lower;
pub use options::{AutoCast, CastType, CompileOptions, OptLevel, UnknownOption};
pub use pipeline::{LoweredProgram, OptimisedProgram, Pipeline};
pub use workflow::Workflow;
