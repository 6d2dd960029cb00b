//! One file a command.

mod bench;
mod compile;
mod cpu;
mod devices;
mod evaluate;
mod index;
mod mlperf;
mod models;
mod numerics;
mod open;
mod profile;
mod report;
mod reports;
mod summary;
mod text;
mod validate;

use anyhow::Result;

use super::args::Command;

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
        Command::Models(args) => models::run(args),
        Command::Validate(args) => validate::run(args),
    }
}
