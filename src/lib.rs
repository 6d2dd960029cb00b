//! neuronscope: a benchmark and profile explorer for AWS NeuronCores.
//!
//! Each module is a crate of the workspace; `ARCHITECTURE.md` says what each holds and which of them promise an API. They build natively
//! and for wasm32, without a Cargo feature.
//!
//! A program depends on it without the command line: `neuronscope = { path = "...", default-features = false }`.
//!
//! # Opening a file
//!
//! Operators of one level: over all levels a kernel, what launched it and the operator around both are the same time.
//!
//! ```
//! use neuronscope::analysis::Selection;
//! use neuronscope::analysis::operators::{OpQuery, operator_stats};
//! use neuronscope::formats::read_bytes;
//!
//! let trace = br#"[{"ph":"X","name":"dot","ts":1,"dur":2,"pid":1,"tid":1},
//!                  {"ph":"X","name":"dot","ts":4,"dur":3,"pid":1,"tid":1}]"#;
//! let profile = read_bytes("two.json", trace)?;
//! let level = profile.levels().default_level();
//! let query = OpQuery { selection: Selection::of_level(level), ..OpQuery::default() };
//! let table = operator_stats(&profile, &query);
//! let row = &table.stats[0];
//! assert_eq!((table.name(&profile, row), row.count, row.total_ns), ("dot", 2, 5_000));
//! # Ok::<(), neuronscope::base::Refusal>(())
//! ```
//!
//! # Simulating a model
//!
//! ```
//! use neuronscope::compiler::Workflow;
//! use neuronscope::device::Device;
//! use neuronscope::neuron::sim::{NoObserver, simulate};
//!
//! let device = Device::of_instance("trn1.2xlarge")?;
//! let executable = device.compile("nn", None, Workflow::Trace)?;
//! let outcome = simulate(&executable, &device.costs, &mut NoObserver)?;
//! assert!(outcome.window.to_ms_f64() > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Writing a file
//!
//! ```
//! use neuronscope::base::Diagnostics;
//! use neuronscope::formats::{WriteFormat, read_bytes};
//! use neuronscope::profile::ProfileBuilder;
//!
//! let mut builder = ProfileBuilder::new("mine");
//! let process = builder.process("1", "server");
//! let thread = builder.thread(process, "1", "worker");
//! builder.slice(thread, 0, 1_000, "request", "", None);
//! let bytes = WriteFormat::Perfetto.write(&builder.finish(Diagnostics::new()));
//! assert_eq!(read_bytes("again", &bytes)?.slices().len(), 1);
//! # Ok::<(), neuronscope::base::Refusal>(())
//! ```
//!
//! `examples/` has a program for each: `cargo run --example open_trace`, `simulate_bert`, `write_trace`.

pub use ns_analysis as analysis;
pub use ns_base as base;
pub use ns_bench as bench;
pub use ns_capture as capture;
pub use ns_compiler as compiler;
pub use ns_container as container;
pub use ns_device as device;
pub use ns_experiment as experiment;
pub use ns_fidelity as fidelity;
pub use ns_formats as formats;
pub use ns_insight as insight;
pub use ns_kernel as kernel;
pub use ns_llm as llm;
pub use ns_machine as machine;
pub use ns_model as model;
pub use ns_neuron as neuron;
pub use ns_nki as nki;
pub use ns_page as page;
pub use ns_profile as profile;
pub use ns_program as program;
pub use ns_readers as readers;
pub use ns_session as session;
pub use ns_tensor as tensor;
pub use ns_traces as traces;
pub use ns_view as view;
