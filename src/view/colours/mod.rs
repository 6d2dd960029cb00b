//! Colour by meaning: slices, shares and rows of one kind of operation have one colour in every view of a profile.
//!
//! A name is reduced to its kind ([`kind_of`]), and the kind decides the hue, in every profile ([`Colours`]). Names that only
//! surround operations are grey.

mod assign;
mod kind;

pub use assign::{Colours, KindColour};
pub use kind::kind_of;
