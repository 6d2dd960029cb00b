//! A model as a picture: its modules as a tree, its operators as a graph, the time of each on a core, and obstacles.
//!
//! ```text
//! InspectSpec (texts of a form or a link), a file -> Subject: the program before any pass
//!   -> Operation list -> compile, simulate -> Times -> ModelTree (sums) -> Opened
//!   -> shown: rows of the tree, an SVG of what is open, documents
//! ```
//!
//! One model is open at a time; further questions about it do not compute it again.

mod documents;
mod limits;
mod messages;
mod open_model;
mod operation;
mod passes;
mod run;
mod subject;
#[cfg(test)]
mod tests;
mod times;
mod tree;
mod view;

pub use messages::{InspectAsk, InspectFile, InspectResult, TreeRow};
pub use run::{InspectAnswer, InspectRun, SharedInspector};
