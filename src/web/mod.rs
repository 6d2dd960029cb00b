//! The page and its worker: the only room that knows browsers.
//!
//! The page holds view state and paints; everything heavy is asked of a worker (`src/bin/worker.rs`) over [`worker`]. The page is
//! two programs, so that the first one is small: [`app`] (`src/bin/app.rs`) has the head, files and profiles, [`lab`] (`src/bin/lab.rs`)
//! the other pages; [`bridge`] is what they tell each other. [`platform`] wraps what the browser offers, [`shelf`] is what the browser keeps from one visit to the next, [`components`] are small and know nothing of requests,
//! [`pages`] put them together.

mod answers;
pub mod app;
pub mod bridge;
pub mod brought;
pub mod components;
pub mod context;
pub mod frame;
mod head;
pub mod lab;
pub mod pages;
pub mod platform;
pub mod reader;
pub mod shelf;
pub mod state;
pub mod sweep;
pub mod timeline;
pub mod worker;
