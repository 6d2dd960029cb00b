//! The profile page: the bar, the rail of tools, the views, the timeline with its dock.

mod actions;
mod bar;
mod controls;
mod dock;
mod export_menu;
mod kept_bases;
mod keys;
mod operators;
mod page;
mod queries;
mod rail;
mod summary;
mod timeline;
mod tools;
mod treemap;

pub use actions::{ProfileActions, open_for_profile};
pub use page::ProfilePage;
