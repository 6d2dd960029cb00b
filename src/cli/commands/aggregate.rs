//! `neuronscope aggregate`

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::Args;
use crate::experiment_args::AggregateArgs;
use crate::file::{Lines, metadata};
use crate::png::png;
use crate::shell::Shell;
use ns_session::reports::{AggregateResult, Aggregation, AggregationRun};

pub(super) fn run(shell: &Shell, mut args: AggregateArgs) -> Result<()> {
    args.files = files_of(shell, &args.files)?;
    let aggregation = aggregation_of(&mut args)?;
    let mut run = match aggregation.start() {
        Ok(run) => run,
        Err(message) => return Err(Args::command().error(ErrorKind::InvalidValue, message).into()),
    };
    args.files.iter().try_for_each(|file| read(&mut run, file))?;
    run.mix().iter().for_each(|line| shell.say(line));
    run.remarks().lines().for_each(|line| shell.say(line));
    match run.result(std::io::stdout().is_terminal())? {
        AggregateResult::Text(report) => shell.print(report.as_bytes()),
        AggregateResult::Picture(drawing) => shell.print(&png(&drawing)?),
        AggregateResult::Missing(sentence) => {
            shell.say(&sentence);
            Ok(())
        }
    }
}

fn aggregation_of(args: &mut AggregateArgs) -> Result<Aggregation> {
    let (mut aggregation, models) = (Aggregation::default(), &args.models);
    args.options.put_text("backends", args.backends.join(","));
    args.options.put_text("test", args.test.name().to_owned());
    args.options.put_into(&mut aggregation, &[])?;
    let tiers = [&models.filter_by_tier[..], &models.exclude_by_tier];
    let mut aggregation = aggregation.of_models([&models.filter, &models.exclude], tiers)?;
    // Without the first file there is no record whose accelerator would suit.
    if let Some(file) = args.files.first().filter(|_| !aggregation.is_lenient()) {
        metadata(file)?;
    }
    aggregation.suit(|| first_line(args.files.first()?));
    Ok(aggregation)
}

/// The first line of a file that is not blank.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut lines = Lines::open(path).ok()?;
    while let Some((_, line)) = lines.read().ok()? {
        if !line.trim_ascii().is_empty() {
            return Some(line.to_owned());
        }
    }
    None
}

/// The files, and in the place of a folder its .jsonl files in order of their names.
pub(super) fn files_of(shell: &Shell, given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in given {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let files = jsonl_files(path)?;
        if files.is_empty() {
            shell.note(&format!("{}: the folder has no .jsonl file", path.display()));
        }
        all.extend(files);
    }
    Ok(all)
}

/// Reads a file line by line.
fn read(run: &mut AggregationRun, path: &Path) -> Result<()> {
    let place = path.display();
    let mut lines = match Lines::open(path) {
        Ok(lines) => lines,
        Err(error) if run.is_lenient() => {
            run.note("files cannot be opened", || format!("{place}: {error}"));
            return Ok(());
        }
        Err(error) => return Err(error).with_context(|| format!("{place}: cannot be opened")),
    };
    let mut is_empty = true;
    while let Some((number, line)) = lines.read()? {
        is_empty = false;
        run.push_line(line, || format!("{place}:{number}"))?;
    }
    if is_empty && run.is_lenient() {
        run.note("files are empty", || place.to_string());
    }
    Ok(())
}

/// The .jsonl files of a folder, without those that `analyze` writes.
pub(super) fn jsonl_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = folder.display();
    let entries = fs::read_dir(folder).with_context(|| format!("{place}: cannot be read"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("{place}: cannot be read"))?.path();
        let is_report = path.file_stem().is_some_and(|stem| stem == "metric_report");
        if path.extension().is_some_and(|e| e == "jsonl") && !is_report && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
