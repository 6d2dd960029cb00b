//! The file of results: read to resume a run, and appended to.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::experiment_args::ExperimentArgs;
use ns_experiment::record::Record;
use ns_experiment::run::DoneBefore;

/// The file that the flags name.
pub(super) fn path(args: &ExperimentArgs) -> PathBuf {
    args.output_dirname.join(&args.output_basename)
}

/// Creates the folder, and removes the old file when `--no-resume` asks for it.
pub(super) fn prepare(args: &ExperimentArgs, file: &Path) -> Result<()> {
    let folder = &args.output_dirname;
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
    if args.no_resume && file.exists() {
        fs::remove_file(file).with_context(|| format!("{}: cannot be removed", file.display()))?;
    }
    Ok(())
}

/// The experiments that the file records as done.
pub(super) fn done_before(file: &Path) -> Result<DoneBefore> {
    let mut done = DoneBefore::default();
    if !file.exists() {
        return Ok(done);
    }
    let reader = BufReader::new(fs::File::open(file).with_context(|| format!("{}: cannot be opened", file.display()))?);
    for line in reader.split(b'\n') {
        let line = line.with_context(|| format!("{}: cannot be read", file.display()))?;
        done.push_line(&String::from_utf8_lossy(&line));
    }
    Ok(done)
}

/// Size of the file in bytes; 0 if it does not exist.
pub(super) fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |m| m.len())
}

/// The last record.
pub(super) fn last(file: &Path) -> Option<Record> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().next_back().and_then(|line| serde_json::from_str(line).ok())
}

/// Adds a record. A line that a dying process left unfinished is ended with a line break first.
pub(super) fn append(file: &Path, record: &Record) -> Result<()> {
    let shown = || format!("{}: cannot be written", file.display());
    let unfinished = fs::read(file).is_ok_and(|bytes| bytes.last().is_some_and(|b| *b != b'\n'));
    let mut out = OpenOptions::new().create(true).append(true).open(file).with_context(shown)?;
    let start = if unfinished { "\n" } else { "" };
    out.write_all(format!("{start}{}\n", record.to_line()?).as_bytes()).with_context(shown)
}
