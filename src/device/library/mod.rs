//! Models that users bring, in addition to those of the zoo: their names ([`ModelFileRef`]), the open files
//! ([`ModelFile`]), and the collection of all open files ([`ModelLibrary`]).

mod batch;
mod digest;
mod fixed;
#[allow(clippy::module_inception, reason = "the library has the name of its folder")]
mod library;
mod model_file;
mod model_file_ref;
mod model_ref;

pub use batch::BatchRule;
pub use digest::content_name;
pub use fixed::{FIXED_MODEL, FIXED_PARAMETERS, FixedModel};
pub use library::{ModelLibrary, OpenedModel};
pub use model_file::{FileModelProgram, ModelFile};
pub use model_file_ref::{ModelFileRef, ModelFileSettings};
pub use model_ref::{ModelKind, ModelRef, model_label};
