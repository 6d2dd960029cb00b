//! The page and its worker: the only room that deals with browsers.
//!
//! Five programs (`bin/`). The page is two, so that the first one is small: [`app`] has the head, files and profiles, [`lab`] the other pages;
//! [`bridge`] has their messages. They hold view state and paint; [`worker`] does everything heavy, in the program `worker` and, for files of
//! profiles alone, in `viewer`, which has no simulator in it. [`reader`] is fetched by a worker at the first model file. [`platform`] wraps the browser's interfaces, [`shelf`] is what the browser keeps between visits,
//! [`components`] are small parts without requests, and [`pages`] are composed of them.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod answers;
pub mod app;
pub mod bridge;
pub mod components;
pub mod context;
mod file_routes;
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
