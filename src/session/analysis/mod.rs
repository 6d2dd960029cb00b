//! Questions about any profile whose answer is a table: groups of slices and what else a person wants to know.

mod groups;
mod listing;

pub use listing::{GroupsOf, Listed, Listing};
pub(super) use listing::{Sources, answer};
