//! The page and its worker: the only room that deals with browsers.
//!
//! The page holds view state and paints; a worker (`src/bin/worker.rs`) does everything heavy, through [`worker`]. The page is
//! two programs, so that the first one is small: [`app`] (`src/bin/app.rs`) has the head, files and profiles, [`lab`] (`src/bin/lab.rs`)
//! the other pages; [`bridge`] has their messages. [`platform`] wraps the browser's interfaces, [`shelf`] is what the browser keeps between visits,
//! [`components`] are small parts without requests, and [`pages`] are composed of them.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod answers;
pub mod app;
pub mod bridge;
pub mod components;
pub mod context;
pub mod frame;
mod head;
pub mod lab;
pub mod model_files;
pub mod pages;
pub mod platform;
pub mod reader;
pub mod shelf;
pub mod state;
pub mod sweep;
pub mod timeline;
pub mod worker;
