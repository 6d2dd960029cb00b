//! NKI kernels: the author's Python file.

mod form;
mod notebook;
mod spec;

pub(super) use form::{FORM, followers};
pub use notebook::{is_notebook, python_of};
pub use spec::{BuiltInKernel, LIST_HAS_ITS_OWN, NkiStudy};
