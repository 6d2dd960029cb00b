//! Graphs with modules, drawn in layers: a closed module is one node, an open one a frame around its content.
//!
//! ```text
//! ModuleGraph + open modules -> contract (edges between visible nodes, frame by frame)
//!                            -> layers -> crossings -> columns (one frame at a time, the innermost first)
//!                            -> Scene (boxes and links) -> svg
//! ```

mod columns;
mod contract;
mod crossings;
mod frame;
mod layers;
mod layout;
mod module_graph;
mod svg;

pub use layout::{GraphScene, Link, NodeBox, lay_out};
pub use module_graph::{GraphNode, Look, ModuleGraph};
pub use svg::{Marks, svg_document, svg_fragment};
