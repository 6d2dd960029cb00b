//! Tests of whole artifacts: files in, results out. One binary, a module per area.

mod bad_input;
mod bench;
mod formats;
mod round_trip;
