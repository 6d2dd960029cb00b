//! The command line: arguments in, one [`ns_session::Session`] driven to its end, text or JSON out.
//!
//! Start with [`run`], then the command's file in `commands/`; `driver.rs` runs a session to the end of a job, and `args.rs` lists the commands.
//!
//! When JSON is asked for, nothing else goes to stdout; progress and messages go to stderr.
//! Exit code 0: done; 1: it could not be done (the message says why), or a comparison failed; 2: wrong usage; 130: ended
//! by Ctrl-C.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line prints: that is what it is for")]

mod analysis_args;
mod args;
mod bench_args;
mod cc_env;
mod commands;
mod compile_args;
mod config_entries;
mod config_file;
mod customop_args;
mod dataset;
mod driver;
mod experiment_args;
mod file;
mod flags;
mod folder;
pub mod host;
mod index_args;
mod inspect_args;
mod interrupt;
mod kernel_file;
mod llm_args;
mod matmult_args;
mod model_args;
mod model_file;
mod nki_args;
mod nki_recorder;
mod option_args;
mod output;
mod output_args;
mod page_args;
#[cfg(test)]
mod page_commands;
mod parquet;
mod parquet_args;
mod png;
mod profile_args;
mod progress;
mod remarks;
mod run_date;
mod serve;
mod serve_args;
mod shell;
mod source;
mod suite_args;
mod training_args;
mod unused_flags;
mod usage_error;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches};
use shell::Shell;

use ns_session::{is_known_script, neuronperf_command, refuse_script};

/// Runs the command line with the arguments of a process, of which the first is the program's name; returns its exit code.
pub fn run(words: Vec<OsString>) -> u8 {
    let shell = Shell::default();
    let done = refuse_scripts(&shell, &words).and_then(|()| run_words(&shell, words));
    match done {
        Ok(()) => 0,
        Err(error) => {
            let Some(usage) = error.downcast_ref::<clap::Error>() else { return fail(&error) };
            // Help and the version are results; a usage error has its own exit code, whatever stderr takes.
            let flushed = usage.print().and_then(|()| std::io::stdout().flush());
            match shell::checked(flushed) {
                Err(error) if !usage.use_stderr() => fail(&error),
                _ => u8::try_from(usage.exit_code()).unwrap_or(2),
            }
        }
    }
}

fn fail(error: &anyhow::Error) -> u8 {
    shell::say_on_terminal(&format!("neuronscope: {error:#}"));
    if error.is::<interrupt::InterruptError>() { interrupt::EXIT_CODE } else { 1 }
}

/// Runs the command of these words, of which the first is the program's name.
fn run_words(shell: &Shell, words: Vec<OsString>) -> anyhow::Result<()> {
    let mut command = args::Args::command();
    // Only now the commands know their full names, which a usage error has.
    command.build();
    let expanded = config_file::expand(shell, flags::plain(words, &command)?)?;
    let expanded = cc_env::expand(shell, expanded)?;
    let explain = |error| usage_error::explain(error, &expanded, &command);
    let matches = command.clone().try_get_matches_from(&expanded).map_err(explain)?;
    let args = args::Args::from_arg_matches(&matches).map_err(|e| e.format(&mut args::Args::command()))?;
    unused_flags::remarks(&matches).iter().for_each(|line| shell.say(line));
    commands::run(shell, args.command)
}

/// A Python script is taken as the build.py of a kernel only, by `customop` and as `--assume OPERATOR=build.py`, as a kernel by `nki`, and by `run`,
/// which runs it:
/// whoever gives one elsewhere gets the command that does what the script's call does.
fn refuse_scripts(shell: &Shell, words: &[OsString]) -> anyhow::Result<()> {
    if words.get(1).is_none_or(|command| ["customop", "nki", "run"].iter().any(|own| command == own)) {
        return Ok(());
    }
    for (at, argument) in words.iter().enumerate().skip(1) {
        // A name that is not UTF-8 is no script's.
        let Some(argument) = argument.to_str().filter(|argument| !argument.contains("::")) else { continue };
        let name = argument.rsplit_once('=').map_or(argument, |(_, value)| value);
        if !name.ends_with(".py") {
            continue;
        }
        let Some(content) = file::read(shell, Path::new(name)).ok().or_else(|| is_known_script(name).then(Vec::new))
        else {
            continue;
        };
        let is_its_flag =
            |word: usize| word + 1 == at && words[word].to_str().is_some_and(|w| w.starts_with("--model"));
        let given = words.iter().enumerate().skip(1).filter(|(word, _)| *word != at && !is_its_flag(*word));
        let mut given: Vec<String> = given.map(|(_, word)| word.to_string_lossy().into_owned()).collect();
        if at == 1 {
            // It stands in the place of the command's name.
            given.insert(0, String::new());
        }
        if let Some(refusal) = refuse_script(name, &content, &given, neuronperf_command) {
            return Err(refusal.into());
        }
    }
    Ok(())
}
