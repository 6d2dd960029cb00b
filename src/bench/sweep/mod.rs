//! A benchmark as a list of configurations: expanded, planned before it runs, and followed while it runs.

pub(super) mod benchmarks;
pub(super) mod expand;
pub(super) mod models;
pub(super) mod notes;
pub(super) mod plan;
pub(super) mod state;
mod storage;
