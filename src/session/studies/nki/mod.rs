//! NKI kernels: the author's Python file is recorded, and its instructions run on a simulated NeuronCore.

mod answers;
mod document;
mod form;
mod run;
mod spec;

pub(crate) use answers::KernelAnswers;
pub use document::KernelDocument;
pub(super) use form::{FORM, followers};
pub use run::kernel_profile;
pub use spec::{NkiStudy, OwnKernel};
