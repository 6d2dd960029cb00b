//! Colour by meaning: one legend of kinds of work ([`Kind`]) for every view, in every profile.
//!
//! A name is reduced to its operation ([`operation_of`]), the operation to the engine or the path that works ([`Kind::of`]). The kind is
//! the hue, and the operation is one of its shades. Names that only surround operations are grey.

mod assign;
mod kind;
mod operation;

pub use assign::Colours;
pub use kind::{Kind, part_neighbours, unit_fills};
pub use operation::operation_of;
