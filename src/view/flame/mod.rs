//! Geometry of a flame graph: a rectangle for each node of a call tree that is wide enough to see.

mod layout;

pub use layout::{FlameLayout, FlameRect, Growth};
