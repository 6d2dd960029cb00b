//! The timeline tool: the canvas with its tools, and the panels around it.

mod annotations;
mod area;
mod minimap;
mod panel;
mod parts;
mod tracks;

pub use panel::TimelinePanel;
