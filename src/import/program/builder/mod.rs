//! Building programs: typed pushes. Each one infers the type of its result and refuses operands that do not fit.
//!
//! A reader walks its graph, sets the [`Origin`](super::Origin) of the current node and pushes the node's operations. Families of
//! operators that frameworks have and XLA does not (softmax, layer norm, attention ..) are in [`compose`](super::compose).

mod call_error;
mod control;
mod core;
mod elementwise;
mod error;
mod fold;
mod index;
mod movement;
mod product;
mod reduce;
mod type_error;

pub use self::core::{Builder, Built};
pub use call_error::{CallError, Unsupported, ValueError};
pub use elementwise::broadcast_dims;
pub use error::{BuildError, Misfit, Pair, Ranks};
pub use index::RowGather;
pub use product::ConvolutionSpec;
pub use type_error::{SymbolError, TypeError};
