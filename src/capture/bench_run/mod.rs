//! A whole benchmark run as a profile, as the tool *trace* of the Neuron plugin shows one.
//!
//! Process `/host:CPU` has the compiler and the measured window on its first thread, bringing up of each model copy (with
//! NeuronPerf's names: `env_setup`, `load`, `setup`, `warmup`), and the worker threads with their inferences. A process
//! for each NeuronCore has the rows *IO Data Transfer* and *NeuronDevice Execution*. Arrows lead from a worker to what
//! its core executes.
//!
//! Lazy tensors (`mark_step`) have more: the ops of a call are recorded, then `StepMarker` and what is in it, then
//! `TransferToServer`; and each core has the row *CC Synchronization*, with a mark where its program was loaded.

mod build;
mod recorder;
#[cfg(test)]
mod tests;

pub use build::{BenchTrace, build_bench_profile};
pub use recorder::{BenchRecorder, MOST_TRACED_INFERENCES};
