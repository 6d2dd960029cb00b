//! NKI kernels: the author's Python file is recorded, and its instructions run on a simulated NeuronCore.

mod document;
mod form;
mod kept;
mod run;
mod spec;

pub use document::KernelDocument;
pub(super) use form::{FORM, followers};
pub(crate) use kept::KeptKernels;
pub use run::kernel_profile;
pub use spec::NkiStudy;
