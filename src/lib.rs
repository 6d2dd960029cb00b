//! neuronscope: a benchmark and profile explorer for AWS NeuronCores.
//!
//! The rooms, in the order in which data flows. A room uses those above it, never those below (a test reads every
//! `crate::` path); rooms on one line do not see each other.
//!
//! | room | holds |
//! |---|---|
//! | [`base`] | time, units, typed ids, interning, random numbers, statistics, diagnostics, the seams of a shell |
//! | [`tensor`], [`profile`], [`machine`] | numbers; what happened when, and its file formats; what the hardware is |
//! | [`kernel`] | custom operators: the C++ of GPSIMD kernels, checked and run for its values |
//! | [`view`], [`insight`] | pure view models: timeline geometry, tables, plots; what an execution's figures mean |
//! | [`model`] | what a person writes: modules, the tracer, the zoo |
//! | [`compiler`] | graph to HLO to passes to an executable |
//! | [`neuron`] | what the machine does: the simulator and the runtime around it |
//! | [`bench`] | NeuronPerf: configurations, scheduler, reports |
//! | [`experiment`], [`capture`], [`fidelity`] | PyTorch/XLA's benchmark suite; a simulated execution as a profile; published rows against predictions |
//! | [`session`] | one facade for every shell: requests, events, share links |
//! | `cli`, `web` | the shells, each behind a feature; the only rooms that know files, terminals and browsers |

pub mod base;
pub mod bench;
pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compiler;
pub mod experiment;
pub mod fidelity;
pub mod import;
pub mod insight;
pub mod kernel;
pub mod machine;
pub mod model;
pub mod neuron;
pub mod profile;
pub mod session;
pub mod tensor;
pub mod view;
#[cfg(feature = "web")]
pub mod web;
