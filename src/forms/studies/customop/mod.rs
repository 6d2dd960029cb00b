//! Custom operators: a kernel in the language of the tutorial.

mod cases;
mod files;
mod form;
mod spec;

pub use cases::{CasePurpose, KernelCase};
pub use files::{KernelOfFiles, check_shapes, placed_kernel};
pub(super) use form::{FORM, followers};
pub use spec::CustomopStudy;
pub(super) use spec::{pack_source, source};
