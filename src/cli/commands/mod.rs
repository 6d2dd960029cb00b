//! One file a command.

mod analysis;
mod bench;
mod bench_index;
mod bench_trace;
mod compare;
mod compile;
mod counters;
mod cpu;
mod devices;
mod evaluate;
mod flame;
mod histogram;
mod idle;
mod index;
mod matmult;
mod mlperf;
mod models;
mod numerics;
mod open;
mod operators;
mod profile;
mod query;
mod report;
mod reports;
mod summary;
mod text;
mod validate;

use anyhow::Result;

use super::args::Command;
pub(super) use profile::{profile_info, profile_spec};

/// Runs a command.
///
/// # Errors
/// With what went wrong, for the person at the terminal.
pub(super) fn run(command: Command) -> Result<()> {
    match command {
        Command::Bench(args) => bench::run(*args),
        Command::Compile(args) => compile::run(args),
        Command::Index(command) => index::run(command),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Report(args) => report::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Numerics(args) => numerics::run(args),
        Command::Open(args) => open::run(args),
        Command::Operators(args) => operators::run(args),
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
    }
}
