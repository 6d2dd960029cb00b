//! Files of models before one is read: which format they have, and their bytes. The readers themselves are `ns_readers`, which a shell passes as
//! a function; whoever only wants to know whether a file is a model asks here.

mod format;
mod jax_export;
mod source;

pub use format::{
    MODEL_ENDINGS, ModelFormat, head, is_bundle, is_model_head, may_have_files_beside, sniff, without_model_ending,
};
pub use jax_export::{BYTECODE_MAGIC, Module, module_in};
pub use source::{gunzip, read_all};
