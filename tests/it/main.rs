//! One integration binary: a module per area.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // clippy.toml's allowance covers #[test] functions, not their helpers

mod compiler;
