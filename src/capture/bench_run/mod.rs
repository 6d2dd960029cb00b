//! A whole benchmark run as a profile, like those of the Neuron plugin's tool *trace*.
//!
//! Process `/host:CPU` has the compiler and the measured window on its first thread, the bringing up of each model copy
//! (with NeuronPerf's names: `env_setup`, `load`, `setup`, `warmup`), and the worker threads with their inferences. Each
//! NeuronCore has a process with the rows *IO Data Transfer* and *NeuronDevice Execution*. Arrows lead from a worker to
//! the work of its core.
//!
//! Lazy tensors (`mark_step`) add slices: the recording of a call's ops, then `StepMarker` and its contents, then
//! `TransferToServer`. Each core also has the row *CC Synchronization*, with a mark where its program was loaded.

mod build;
mod recorder;
#[cfg(test)]
mod tests;

pub use build::{BenchTrace, build_bench_profile};
pub use recorder::{BenchRecorder, MOST_TRACED_INFERENCES};
