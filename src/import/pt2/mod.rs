//! `.pt2` files of `torch.export.save`, of torch 2.4 and later.
//!
//! The graph is JSON beside the weights in a zip archive: aten operations with their arguments, the type of every value, and the
//! modules each was called in. Graphs of the training IR (with operations in place and views) and graphs after
//! `run_decompositions()` are read alike. Weights are not read: a program says where in the file they lie.

mod argument;
mod flops;
mod inspect;
mod json;
mod legacy;
mod meta;
mod open;
mod pickle;
mod schema;
mod symbol;
mod translate;
mod weights;

pub use open::read_pt2;
