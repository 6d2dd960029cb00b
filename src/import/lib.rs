//! Model files of users: files that PyTorch, JAX, TensorFlow or an ONNX exporter wrote.
//!
//! Every reader makes the same [`Program`](program::Program): computations of operations with XLA's meaning, each with its module
//! scope. Code that uses a program does not know the format of its file. The [`Inspection`] says what a file holds, in the
//! format's own terms.
//!
//! Readers take bytes by slices ([`ModelBytes`]), so they can skip the weights beside a graph.
//!
//! [`read_model`] is the only entry point, and rooms above get it as a [`ReadModel`]. A program of the page that does not refer to it
//! contains no readers, and gets its models as bytes from the program that has them ([`read_elsewhere`], [`read_carried`]).

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod bytecode;
mod calls;
mod carried;
mod compare;
mod error;
pub mod eval;
mod hlo;
mod inspection;
mod lexer;
mod limits;
mod load;
mod npz;
mod onnx;
pub mod program;
mod pt2;
mod read;
mod roles;
mod scopes;
mod sniff;
mod source;
mod stablehlo;
mod summary;
mod supported;
mod torchscript;
mod undecided;

pub use ns_container::ByteSource as ModelBytes;
use ns_container::{gzip, zip};
use serde::{Deserialize, Serialize};

pub use bytecode::read_mlir_bytecode;
pub use carried::{read_carried, read_elsewhere};
pub use compare::{ResultComparison, compare};
pub use error::{ImportError, Place};
pub use hlo::{read_hlo_proto, read_hlo_text};
pub use inspection::{Inspection, OpenDimension, TensorInfo, UnsupportedOp, Verdict};
pub use load::load_parameter;
pub use npz::read_npz;
pub use onnx::read_onnx;
pub use pt2::read_pt2;
pub use read::{ImportOptions, MODEL_ENDINGS, ReadModel, read_model};
pub use sniff::{ModelKind, is_model_head, sniff};
pub use source::{gunzip, read_all};
pub use stablehlo::read_stablehlo;
pub use supported::{OperatorKind, SUPPORTED_FORMATS, SupportedOperator, supported_operators};
pub use torchscript::read_torchscript;
pub use undecided::refuse_undecided;

/// A model that was read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The content of the file, in its format's own terms.
    pub inspection: Inspection,
    /// The computation. Operations without a known meaning are [`program::Op::Opaque`] and listed in the inspection.
    pub program: program::Program,
}
