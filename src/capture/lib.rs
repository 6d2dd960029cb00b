//! The simulator as a source of profiles: an observer records what ran and when, and the rows of the operator
//! timeline are built from the recording.
//!
//! Sections, as the plugin for TensorBoard has them: *Process Overview* (Neuron Runtime Setup, Compute Busy, DMA Busy),
//! then *Process Control*, *Process Execution* and *Process Data Transfer*, each with the module hierarchy, Framework
//! Ops and HLO Ops. A last section shows the engines and DMA queues themselves.
//!
//! [`build_bench_profile`] makes the timeline of a whole benchmark.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod bench_run;
mod build;
mod customop;
mod lanes;
mod recorder;
mod rows;
mod run;
mod segments;

pub use bench_run::{BenchRecorder, BenchTrace, MOST_TRACED_INFERENCES, build_bench_profile};
pub use build::{CapturedProfile, RunTitle, build_profile};
pub use customop::build_customop_profile;
pub use recorder::{Recorder, Span};
pub use run::run_of;
