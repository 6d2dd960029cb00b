//! The profile page: Run and Tool selectors, operator views, the timeline.

mod actions;
mod controls;
mod operators;
mod page;
mod queries;
mod summary;
mod timeline;

pub use actions::open_file;
pub use page::ProfilePage;
