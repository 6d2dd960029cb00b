//! The profile page: Run and Tool selectors, operator views, the timeline.

mod actions;
mod controls;
mod export_menu;
mod operators;
mod page;
mod queries;
mod summary;
mod timeline;
mod tools;
mod treemap;

pub use actions::open_file;
pub use page::ProfilePage;
