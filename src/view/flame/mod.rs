//! Geometry of a flame graph: a rectangle for each node of a call tree, or for each slice
//! of a thread over time, if it is wide enough to see.

mod in_order;
mod layout;

pub use in_order::InOrderLayout;
pub use layout::{FlameLayout, FlameRect, Growth};
