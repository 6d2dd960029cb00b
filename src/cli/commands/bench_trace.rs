//! `neuronscope bench --trace FILE`: each configuration as a timeline.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::profile::{profile_info, write_trace};
use crate::driver::Driver;
use crate::output_args::TraceArgs;
use ns_bench::Configuration;
use ns_session::{JobRequest, TraceSpec};

/// Runs a configuration once more with an observer, and writes its timeline. `row` of `rows` is its place in the sweep. Fails when
/// it cannot run, or the file cannot be written.
pub(super) fn write(
    driver: &mut Driver<'_>,
    configuration: &Configuration,
    args: &TraceArgs,
    (row, rows): (u32, usize),
) -> Result<()> {
    let Some(path) = &args.trace else { return Ok(()) };
    let path = if rows > 1 { numbered(path, row) } else { path.clone() };
    let spec = TraceSpec { timeline_s: args.trace_seconds, ..TraceSpec::from(configuration.clone()) };
    let info = profile_info(driver.run(JobRequest::Trace(Box::new(spec)), None)?)?;
    write_trace(driver, info.profile, args.trace_export, &path)?;
    let part = info.facts.iter().find(|(name, _)| name == "Shown");
    let part = part.map_or_else(String::new, |(_, what)| format!(" ({what})"));
    driver.say(&format!("note: {} is in {}{part}", configuration.label(), path.display()));
    driver.close(info.profile);
    Ok(())
}

/// `run.json` as `run.3.json`.
fn numbered(path: &Path, row: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!(".{row}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_files_of_their_own() {
        assert_eq!(numbered(Path::new("a/run.json"), 3), Path::new("a/run.3.json"));
        assert_eq!(numbered(Path::new("run"), 0), Path::new("run.0"));
    }
}
