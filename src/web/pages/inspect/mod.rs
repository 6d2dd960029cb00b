//! The page of models: a tree and a picture that a worker made, moved and chosen from here.

mod actions;
mod form;
mod page;
mod picture;
mod tree;

pub use actions::{Actions, open_model};
pub use page::InspectPage;
