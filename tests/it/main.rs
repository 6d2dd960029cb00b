//! Tests of whole artifacts: files in, results out. One binary, a module per area.

// clippy.toml's allowance covers #[test] functions, not their helpers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "clippy.toml allows it in tests, not in their helpers"
)]

mod analysis;
mod bad_input;
mod bench;
mod bench_commands;
mod bench_report;
mod bench_session;
mod bench_truth;
mod casts;
mod cli;
mod compiler;
mod customop;
mod customop_command;
mod derived_batch;
mod design;
mod device;
mod digests;
mod doc_tables;
mod documents;
mod documents_rows;
mod execution;
mod experiment_page;
mod experiment_page_reports;
mod experiment_page_run;
mod experiment_plan;
mod experiment_reports;
mod experiment_run;
mod export_round_trip;
mod fidelity;
mod file_kinds;
mod folder;
mod format_samples;
mod formats;
mod fuzz_bodies;
#[path = "../support/hlo_text.rs"]
mod hlo_text;
mod house;
mod import_aten;
mod import_bench;
mod import_commands;
mod import_damage;
mod import_hlo;
mod import_hlo_bad;
mod import_layouts;
mod import_mutants;
mod import_npz;
mod import_on_core;
mod import_onnx;
mod import_parity;
mod import_pt2;
mod import_remote;
mod import_symbolic;
mod import_torchscript;
mod index_files;
mod insight;
mod kept_sweeps;
mod kernel_language;
mod kernel_log;
mod landing;
mod levels;
mod links;
mod llm;
mod matmult;
mod matmult_study;
mod model_cases;
mod mutated_commands;
mod neuron_device;
mod numerics;
mod odd_traces;
mod old_formats;
mod on_core;
mod one_answer;
mod one_step;
mod open_text;
mod options;
mod outputs;
mod overview;
mod page_commands;
mod parquet_files;
mod plugin_runs;
mod porting;
mod pprof;
mod profiler_call;
mod read_limits;
mod readers;
mod readme_limits;
mod recordings;
mod remarks;
mod round_trip;
mod serve;
mod shell;
mod spills;
mod sums;
mod throttle;
mod training;
