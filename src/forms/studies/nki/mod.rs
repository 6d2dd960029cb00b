//! NKI kernels: the author's Python file.

mod form;
mod spec;

pub(super) use form::{FORM, followers};
pub use spec::{BuiltInKernel, NkiStudy};
