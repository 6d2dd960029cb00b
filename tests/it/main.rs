//! Tests of whole artifacts: files in, results out. One binary, a module per area.

mod bad_input;
mod bench;
//! One integration binary: a module per area.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // clippy.toml's allowance covers #[test] functions, not their helpers

mod compiler;
mod formats;
mod round_trip;
