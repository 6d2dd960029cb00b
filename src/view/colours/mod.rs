//! Colour by meaning: slices, shares and rows of one kind of operation have one colour in every view of a profile.
//!
//! A name is reduced to its kind ([`kind_of`]), and the kinds that matter most in a profile get the eight hues, once
//! ([`Colours`]). All others, and names that only surround operations, are grey.

mod assign;
mod kind;

pub use assign::{Colours, KindColour};
pub use kind::kind_of;
