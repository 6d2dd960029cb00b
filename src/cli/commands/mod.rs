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
mod records;
mod report;
mod reports;
mod result_files;
mod script;
mod serve;
mod timers;
mod validate;
mod verify;

use anyhow::Result;

use super::args::Command;
use super::shell::Shell;
#[cfg(test)]
pub(super) use experiment::request_of;
pub(super) use profile::{profile_info, profile_spec};

/// Runs a command. An error says what went wrong, in words for the user.
pub(super) fn run(shell: &Shell, command: Command) -> Result<()> {
    match command {
        Command::Bench(args) => bench::run(shell, *args),
        Command::Compile(args) => compile::run(shell, args),
        Command::Index(command) => index::run(shell, command),
        Command::Evaluate(args) => evaluate::run(shell, args),
        Command::Report(args) => report::run(shell, args),
        Command::Profile(args) => profile::run(shell, args),
        Command::CustomOp(args) => customop::run(shell, *args),
        Command::Nki(args) => nki::run(shell, *args),
        Command::Run(args) => script::run(shell, &args),
        Command::Devices(args) => devices::run(shell, args),
        Command::Inspect(args) => inspect::run(shell, *args),
        Command::Numerics(args) => numerics::run(shell, args),
        Command::Open(args) => open::run(shell, args),
        Command::Operators(args) => operators::run(shell, args),
        Command::OperatorsSupported(args) => operators_supported::run(shell, &args),
        Command::Flame(args) => flame::run(shell, args),
        Command::Histogram(args) => histogram::run(shell, args),
        Command::Idle(args) => idle::run(shell, args),
        Command::CriticalPath(args) => idle::run_path(shell, args),
        Command::Counters(args) => counters::run(shell, args),
        Command::Query(args) => query::run(shell, args),
        Command::Compare(args) => compare::run(shell, args),
        Command::Matmult(args) => matmult::run(shell, &args),
        Command::Models(args) => models::run(shell, args),
        Command::Validate(args) => validate::run(shell, args),
        Command::Generate(args) => generate::run(shell, *args),
        Command::Fit(args) => generate::run_fit(shell, *args),
        Command::Experiment(args) => experiment::run(shell, *args),
        Command::Aggregate(args) => aggregate::run(shell, *args),
        Command::Records(args) => records::run(shell, *args),
        Command::Analyze(args) => analyze::run(shell, args),
        Command::Parquet(args) => parquet::run(shell, args),
        Command::MatmulBench(args) => matmul_bench::run(shell, args),
        Command::Verify(args) => verify::run(shell, args),
        Command::Serve(args) => serve::run(shell, &args),
        Command::Completions(args) => manual::completions(shell, &args),
        Command::Man(args) => manual::man(shell, &args),
    }
}
