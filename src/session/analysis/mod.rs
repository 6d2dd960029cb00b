//! Questions about any profile whose answer is a table: groups of slices and what else a person wants to know.

mod groups;
mod listing;
mod sentences;
mod tables;
mod tree;

pub use listing::{GroupsOf, Listed, Listing};
pub(super) use listing::{Sources, answer};
pub(super) use tree::tree;
pub use tree::{Tree, TreeOf};
