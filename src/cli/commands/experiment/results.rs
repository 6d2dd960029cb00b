//! The file of results: read to resume a run, and appended to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::experiment_args::ExperimentArgs;
use crate::file::Lines;
use crate::output;
use ns_experiment::record::Record;
use ns_experiment::run::DoneBefore;

/// The file that the flags name.
pub(super) fn path(args: &ExperimentArgs) -> PathBuf {
    args.output_dirname.join(&args.output_basename)
}

/// Creates the folder and the file, which no other run may add to until the result is dropped; empties the file when `--no-resume` asks
/// for it.
pub(super) fn prepare(args: &ExperimentArgs, file: &Path) -> Result<File> {
    output::create_folder(&args.output_dirname)?;
    let own = output::open_alone(file, "another run")?;
    if args.no_resume && file.is_file() {
        own.set_len(0).with_context(|| format!("{}: cannot be emptied", file.display()))?;
    }
    Ok(own)
}

/// The experiments that the file records as done.
pub(super) fn done_before(file: &Path) -> Result<DoneBefore> {
    let mut done = DoneBefore::default();
    if !file.exists() {
        return Ok(done);
    }
    let mut lines = Lines::open(file).with_context(|| format!("{}: cannot be opened", file.display()))?;
    while let Some((_, line)) = lines.read()? {
        done.push_line(&String::from_utf8_lossy(line));
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

/// Adds a record.
pub(super) fn append(file: &Path, record: &Record) -> Result<()> {
    output::append(file, &format!("{}\n", record.to_line()?))
}
