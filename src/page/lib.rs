//! The page's state as plain Rust: the view of each page of the site, and how each action changes it.
//!
//! A state has `after(&self, action) -> Self`. Nothing here depends on a browser: what a shell keeps in a state (the handle of a
//! worker) is a type parameter, and what only a shell knows (the date, the address) comes with an action. So everything here is
//! tested natively.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod bench;
mod controls;
pub mod experiments;
pub mod file_queue;
pub mod history;
pub mod inspect;
pub mod link_intent;
pub mod notices;
pub mod picture;
pub mod profile;
pub mod replies;
mod run;
mod shared;
pub mod study;
pub mod sweep;
pub mod table_head;

pub use controls::{Controls, PauseLabel};
pub use run::RunState;
pub use shared::Shared;
