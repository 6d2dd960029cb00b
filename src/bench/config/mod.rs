//! The request for a benchmark, and one point of its sweep: parameters with their ranges, lists, inputs, run options.

pub(super) mod bench_config;
pub(super) mod configuration;
pub(super) mod input_fit;
pub(super) mod inputs;
pub(super) mod list;
pub(super) mod options;
