//! From a graph of aten ops to an executable for a NeuronCore: HLO, lowering, passes, code generation.
//!
//! ```text
//! Graph        --lower-----------> HloModule --passes--> HloModule --codegen--> Executable
//! ImportedModel --from_program--/
//! ```
//!
//! Start with:
//! - [`Pipeline`]: a model on its way, each stage computed when it is first asked for, and kept. Every command and page compiles through it.
//! - [`hlo::HloModule`], what the stages pass on, with its verifier, evaluator and text.
//! - [`codegen::generate`], which calls one function for each opcode.
//!
//! Invariants:
//! - Every pass is verified after it ran, and keeps the values of the module, bit for bit.
//! - The same model and options give the same executable: names, order and numbers depend on nothing else.
//! - A model that does not fit is a [`StageError`] with the path of the operation.

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
