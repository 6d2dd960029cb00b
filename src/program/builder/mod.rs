//! Building programs: typed pushes. Each one infers the type of its result and refuses operands that do not fit.
//!
//! A reader walks its graph, sets the [`Origin`](super::Origin) of the current node and pushes the node's operations. Families of
//! operators that frameworks have and XLA does not (softmax, layer norm, attention ..) are in [`compose`](super::compose).

mod control;
mod core;
mod elementwise;
mod fold;
mod index;
mod movement;
mod product;
mod reduce;

pub use self::core::{Builder, Built};
pub use elementwise::broadcast_dims;
pub use index::RowGather;
pub use product::ConvolutionSpec;
pub(super) use reduce::no_window;
