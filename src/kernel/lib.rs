//! Custom operators of the GPSIMD processors: the C++ subset in which their kernels are written. Kernels are checked and
//! run for their values.
//!
//! [`compile`] reads a source file and checks names, types and the rules of the interface. [`run`] executes a kernel
//! function on tensors, one processor after another, and reports the work on each line to a [`Meter`], which decides
//! how long the work takes. [`CoreMeter`] has the costs of a GPSIMD processor, and [`OperatorCall`] computes the cost
//! of a call. [`compile`] and [`run`] report problems with line and column.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod arithmetic;
mod build_script;
mod check;
mod operator;
mod parse;
mod problem;
mod program;
mod run;
mod shape_file;
mod types;
mod value;

pub use build_script::BuildScript;
pub use check::compile;
pub use operator::{
    BUILT_IN, BuiltIn, CallCost, CoreMeter, Fill, KernelDtype, Kind, LineCost, MAX_CALL_ELEMENTS, ModelKernel,
    NamedKernel, OperatorCall, OperatorRun, Segment, TABLE_GRADIENT, TABLE_KERNEL, built_in, filled, is_own_kernel,
    is_source_name, without_source,
};
pub use parse::MAX_SOURCE_BYTES;
pub use problem::{Diagnostic, Pos, Problem, Severity};
pub use program::{KernelFunction, Program, Role};
pub use run::{HbmTensor, KernelRun, Meter, Outcome, RunOptions, Work, run};
pub use shape_file::ShapeFile;
pub use types::{Scalar, Type};

/// The longest text that a packed source may unpack to, bytes: recorded lists of other kernels are longer than sources.
pub const MAX_PACKED_BYTES: usize = 4 * MAX_SOURCE_BYTES;
