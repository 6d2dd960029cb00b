//! NKI kernels: the author's Python file is recorded, and its instructions run on a simulated NeuronCore.

mod answers;
mod document;
mod run;

pub use answers::KernelAnswers;
pub use document::KernelDocument;
pub use run::kernel_profile;
pub(super) use run::start;
