//! Tests of whole artifacts: files in, results out. One binary, a module per area.

mod bench;
mod formats;
