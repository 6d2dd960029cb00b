//! The page of models: a tree and a picture, made by a worker, navigated here.

mod actions;
mod form;
mod page;
mod picture;
mod tree;

pub use actions::{InspectActions, open_model};
pub use page::InspectPage;
