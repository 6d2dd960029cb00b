//! The page and its worker: the only room that knows browsers.
//!
//! The page (`src/bin/app.rs`) holds view state and paints; everything heavy is asked of a worker (`src/bin/worker.rs`)
//! over [`worker`]. [`platform`] wraps what the browser offers, [`components`] are small and know nothing of requests,
//! [`pages`] put them together.

mod app;
pub mod components;
pub mod context;
pub mod pages;
pub mod platform;
pub mod state;
pub mod sweep;
pub mod timeline;
pub mod worker;

pub use app::start;
