//! The timeline tool: the canvas with its tools, and the panels around it.

mod annotations;
mod area;
mod canvas;
mod changes;
mod legend;
mod minimap;
mod panel;
mod parts;
mod tracks;

pub(super) use canvas::use_canvas;
pub use panel::TimelinePanel;
