//! Microbenchmarks: one operation timed without the noise of its surroundings, and square products of many sizes.

mod do_bench;
mod sweep;

pub use do_bench::{BenchPlan, BenchTimes, TimedOperation, do_bench};
pub use sweep::{MatmulCase, MatmulDType, MatmulResult, SpeedupClass, matmul_cases};
