//! Models that people bring, beside those of the zoo: what a model file is called ([`BroughtSpec`]), what is kept of it
//! ([`BroughtModel`]), and all that are open ([`ModelLibrary`]).

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
