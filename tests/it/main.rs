//! Tests of whole artifacts: files in, results out. One binary, a module per area.

// clippy.toml's allowance covers #[test] functions, not their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

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
mod device;
mod execution;
mod experiment_page;
mod experiment_plan;
mod experiment_reports;
mod experiment_run;
mod fidelity;
mod formats;
mod fuzzed;
mod import_aten;
mod import_hlo;
mod import_hlo_bad;
mod import_npz;
mod import_onnx;
mod import_placed;
mod import_pt2;
mod insight;
mod kernel_log;
mod layering;
mod levels;
mod made_formats;
mod matmult;
mod matmult_study;
mod numerics;
mod odd_traces;
mod old_formats;
mod opened;
mod parquet_files;
mod plugin_runs;
mod porting;
mod pprof;
mod readers;
mod recorded;
mod round_trip;
mod spills;
mod written;
