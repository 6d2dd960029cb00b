//! `.pt2` files of `torch.export.save`, of torch 2.4 and later.
//!
//! The graph is JSON beside the weights in a zip archive: aten operations with their arguments, the type of every value, and the modules
//! in which each was called. Graphs of the training IR (with in-place operations and views) and graphs after
//! `run_decompositions()` are both read. Weights are not read: a program records where in the file they lie.

mod argument;
mod flops;
mod inspect;
mod json;
mod legacy;
mod meta;
mod open;
mod pickle;
mod schema;
mod translate;
mod weights;

pub use argument::{Argument, Symbolic, Text};
pub use legacy::{PickledTensor, pickled_tensor};
pub use open::read_pt2;
pub use pickle::{Id as PickleId, Pickle, PickleValue};
pub use schema::NamedArgument;
pub use translate::{AloneCall, Translation, Translator, ViewId, operators, scalar_type};
