//! Operators of a library: the kernels that come with the program, a user's own kernel inside a model, and the cost of a
//! call on the GPSIMD processors.

mod call;
mod dtype;
mod fill;
mod in_model;
mod library;
mod meter;
mod named_kernel;

pub use call::{CallCost, OperatorCall, OperatorRun};
pub use dtype::KernelDtype;
pub use fill::{Fill, filled};
pub use in_model::{MAX_CALL_ELEMENTS, ModelKernel};
pub use library::{BUILT_IN, BuiltIn, built_in, is_source_name};
pub use meter::{CoreMeter, Kind, LineCost, Segment};
pub use named_kernel::{NamedKernel, TABLE_GRADIENT, TABLE_KERNEL, is_own_kernel, without_source};
