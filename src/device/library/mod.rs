//! Models that users bring, in addition to those of the zoo: their names ([`BroughtSpec`]), the open files
//! ([`BroughtModel`]), and the collection of all open files ([`ModelLibrary`]).

mod batch;
mod brought_model;
mod brought_spec;
mod digest;
mod error;
#[allow(clippy::module_inception, reason = "the library has the name of its folder")]
mod library;

pub use batch::BatchRule;
pub use brought_model::{BroughtModel, Instantiated};
pub use brought_spec::{BROUGHT_PREFIX, BroughtSettings, BroughtSpec, BroughtSpecError, model_label};
pub use error::LibraryError;
pub use library::{ModelLibrary, OpenedModel};
