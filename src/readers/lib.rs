//! Readers of model files: files that PyTorch, JAX, TensorFlow or an ONNX exporter wrote.
//!
//! Every reader makes an [`ImportedModel`](ns_program::ImportedModel): a [`Program`](ns_program::Program) of XLA's operations, and an
//! [`Inspection`](ns_program::Inspection) in the format's own terms. Code that uses it does not know the format of its file.
//!
//! Start with:
//! - [`read_model`], the entry point of shells, which rooms above get as a [`ReadModel`](ns_program::ReadModel). It asks [`sniff`](ns_program::file::sniff) for the
//!   format, because only the bytes of a file decide it, and passes the file to the reader of that format.
//! - The folder of a format: `pt2` (torch.export), `torchscript`, `onnx`, `hlo` (text and protobuf), `stablehlo` (text), `bytecode` (of
//!   MLIR, also in a file of `jax.export`). Each has its operators in tables: a name, its kind of work, the function that translates it.
//! - [`supported_operators`], which prints these tables.
//!
//! Invariants:
//! - Readers take bytes by slices ([`ByteSource`](ns_container::ByteSource)), and leave the weights beside a graph where they are.
//! - A file that cannot be read is an [`ImportError`](ns_program::ImportError): where, what is wrong, what to do instead. No file makes a reader
//!   panic, or use memory or time out of proportion to its size.
//! - Nothing of a file is executed: a pickle is read as data, TorchScript is interpreted in shapes.
//! - Only the shell that reads files names [`read_model`]. The worker of the page asks another program for its models
//!   ([`read_elsewhere`](ns_program::read_elsewhere)), which answers with [`read_carried`], and so holds no reader.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod bundle;
mod bytecode;
mod hlo;
mod lexer;
mod limits;
mod npz;
mod onnx;
mod open_decisions;
mod pt2;
mod read;
mod remote;
mod roles;
mod scopes;
mod size_term;
mod stablehlo;
mod summary;
mod supported;
mod torchscript;

pub use bytecode::read_mlir_bytecode;
pub use hlo::{read_hlo_proto, read_hlo_text};
pub use npz::{read_npz, write_npz};
pub use onnx::read_onnx;
pub use open_decisions::refuse_undecided;
pub use pt2::read_pt2;
pub use read::read_model;
pub use remote::read_carried;
pub use stablehlo::read_stablehlo;
pub use supported::{SUPPORTED_FORMATS, SupportedOperator, supported_operators};
pub use torchscript::read_torchscript;
