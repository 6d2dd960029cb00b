//! The pages, each with its requests.

pub mod benchmark;
pub mod experiments;
pub mod numerics;
pub mod profile;
pub mod study;
