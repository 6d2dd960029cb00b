//! Tests of whole artifacts: files in, results out. One binary, a module per area.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod bad_input;
mod formats;
mod round_trip;
