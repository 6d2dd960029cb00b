//! TorchScript files (`torch.jit.save`) of traced, frozen and straight scripted models.
//!
//! Such a file has a tree of modules as a pickle, which is read and never executed, and the methods of their classes as source: the
//! part of Python that PyTorch prints. The only shapes in it are those of the example inputs of a trace. The source is interpreted with
//! values that stand for tensors of known types: each aten call is given to the translation that `.pt2` files have, sizes are
//! numbers, and loops and branches run when numbers decide them. What depends on data is refused with its file and line.
//!
//! `source` reads the text; `schema` names arguments; `objects` is the tree of modules with its weights; `inputs` says what the
//! model is called with; `interpret` runs it; `count` counts operators as PyTorch does after loading.

mod count;
mod inputs;
mod interpret;
mod objects;
mod open;
mod schema;
mod source;
mod value;

pub use open::read_torchscript;

/// What to do with a file that is damaged.
const AGAIN: &str = "save the model again with torch.jit.save";
