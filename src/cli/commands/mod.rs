//! One file for each command.

mod aggregate;
mod analysis;
mod analyze;
mod bench;
mod bench_trace;
mod compare;
mod compile;
mod counters;
mod cpu;
mod customop;
mod devices;
mod evaluate;
mod experiment;
mod flame;
mod generate;
mod histogram;
mod idle;
mod index;
mod index_files;
mod inspect;
mod inspect_picture;
mod kept_kernels;
mod kept_sweep;
mod manual;
mod matmul_bench;
mod matmult;
mod mlperf;
mod model_values;
mod models;
mod nki;
mod numerics;
mod open;
mod operators;
mod operators_supported;
mod parquet;
mod profile;
mod profile_call;
mod profile_log;
mod profile_outputs;
mod query;
mod report;
mod reports;
mod result_files;
mod script;
mod serve;
mod text;
mod timers;
mod validate;
mod verify;

use anyhow::Result;

use super::args::Command;
#[cfg(test)]
pub(super) use experiment::request_of;
pub(super) use profile::{profile_info, profile_spec};
pub(super) use text::checked;

/// Runs a command. An error says what went wrong, in words for the user.
pub(super) fn run(command: Command) -> Result<()> {
    match command {
        Command::Bench(args) => bench::run(*args),
        Command::Compile(args) => compile::run(args),
        Command::Index(command) => index::run(command),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Report(args) => report::run(args),
        Command::Profile(args) => profile::run(args),
        Command::CustomOp(args) => customop::run(*args),
        Command::Nki(args) => nki::run(*args),
        Command::Run(args) => script::run(&args),
        Command::Devices(args) => devices::run(args),
        Command::Inspect(args) => inspect::run(*args),
        Command::Numerics(args) => numerics::run(args),
        Command::Open(args) => open::run(args),
        Command::Operators(args) => operators::run(args),
        Command::OperatorsSupported(args) => operators_supported::run(&args),
        Command::Flame(args) => flame::run(args),
        Command::Histogram(args) => histogram::run(args),
        Command::Idle(args) => idle::run(args),
        Command::CriticalPath(args) => idle::run_path(args),
        Command::Counters(args) => counters::run(args),
        Command::Query(args) => query::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Matmult(args) => matmult::run(&args),
        Command::Models(args) => models::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Generate(args) => generate::run(*args),
        Command::Fit(args) => generate::run_fit(*args),
        Command::Experiment(args) => experiment::run(*args),
        Command::Aggregate(args) => aggregate::run(*args),
        Command::Analyze(args) => analyze::run(args),
        Command::Parquet(args) => parquet::run(args),
        Command::MatmulBench(args) => matmul_bench::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Serve(args) => serve::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}
