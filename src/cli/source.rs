//! The source of a profile for the commands that analyse: a file, or a run of the simulator.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;

use super::commands::{profile_info, profile_spec};
use super::driver::Driver;
use super::file::FileSource;
use super::flags::dashed_flag;
use super::folder::FolderSource;
use super::profile_args::ProfileArgs;
use ns_bench::import::other_tool;
use ns_session::{ByteSource, HEAD_BYTES, JobRequest, Kind, ProfileInfo, ProfileSpec, sniff};

/// Prefix of a simulated run on the command line.
const RUN_PREFIX: &str = "sim:";

/// The flags of `neuronscope profile`, as a run names them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct RunFlags {
    #[command(flatten)]
    profile: ProfileArgs,
}

/// Opens a file, or runs the simulation in `sim:MODEL?workflow=trace&instance=inf1.xlarge`: the flags of
/// `neuronscope profile` follow the question mark. Fails when the source can neither be opened nor simulated; the message says why.
pub(super) fn open(driver: &mut Driver<'_>, source: &str) -> Result<ProfileInfo> {
    let Some(run) = source.strip_prefix(RUN_PREFIX) else {
        let info = open_file(driver, Path::new(source))?;
        driver.remark(source, &info);
        return Ok(info);
    };
    let flags = flags_of(run).map_err(|e| anyhow!("{source}: {e}"))?;
    let spec = profile_spec(driver, &flags).with_context(|| source.to_owned())?;
    let info = simulate(driver, spec)?;
    if let Some(note) = &info.note_of_times {
        driver.say(&format!("note: {source}: {note}"));
    }
    Ok(info)
}

/// Simulates an execution.
pub(super) fn simulate(driver: &mut Driver<'_>, spec: ProfileSpec) -> Result<ProfileInfo> {
    driver.once(format!("{spec:?}"), |driver| profile_info(driver.run(JobRequest::Profile(spec), None)?))
}

/// Opens a file, or the files of a folder as one archive. Fails when it cannot be read as a profile; the message says why.
pub(super) fn open_file(driver: &mut Driver<'_>, path: &Path) -> Result<ProfileInfo> {
    open_files(driver, &[path.to_owned()])
}

/// Opens one file, or folders and several files as one archive. Fails when nothing can be read as a profile; the message says why.
pub(super) fn open_files(driver: &mut Driver<'_>, paths: &[PathBuf]) -> Result<ProfileInfo> {
    driver.once(format!("{paths:?}"), |driver| read_files(driver, paths))
}

fn read_files(driver: &mut Driver<'_>, paths: &[PathBuf]) -> Result<ProfileInfo> {
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let (name, file): (String, Box<dyn ByteSource>) = match paths {
        [path] if !path.is_dir() => {
            (name(path).unwrap_or_else(|| "file".to_owned()), Box::new(FileSource::open(driver.shell, path)?))
        }
        [folder] => (name(folder).unwrap_or_else(|| "folder".to_owned()), Box::new(FolderSource::open(paths)?)),
        several => (format!("{} files", several.len()), Box::new(FolderSource::open(paths)?)),
    };
    let head = file.slice(0, HEAD_BYTES).with_context(|| name.clone())?;
    if let ([path], Some((what, command))) = (paths, other_command(sniff(&head, &name)))
        && !path.is_dir()
    {
        if let Some(refusal) = other_tool(&head).filter(|_| command == "report") {
            bail!("{name}: {refusal}");
        }
        bail!("{name}: it {what}, not a profile; look at it with: neuronscope {command} {}", path.display());
    }
    let size = file.size();
    profile_info(driver.run(JobRequest::Open { name, size }, Some(file))?)
}

/// What a file is or holds that is not a profile, and the command that takes it. `None` for a profile, and for what the readers of profiles name.
const fn other_command(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Model => Some(("is a model", "inspect")),
        Kind::Records => Some(("holds records of experiments", "records")),
        Kind::Figures => Some(("is a table of figures", "validate")),
        Kind::Reports => Some(("holds benchmark reports", "report")),
        Kind::Index => Some(("is a model index", "bench")),
        Kind::Kernel => Some(("is the source of a custom operator", "customop --kernel")),
        Kind::Nki => Some(("is an NKI kernel", "nki")),
        Kind::Decoder => Some(("is the configuration of a language model", "generate --model-config")),
        Kind::Profile | Kind::Archive | Kind::NotOurs(_) => None,
    }
}

/// Simulates a run given by its model and the flags after the question mark.
fn flags_of(run: &str) -> Result<ProfileArgs, String> {
    let (model, flags) = run.split_once('?').unwrap_or((run, ""));
    let flags = flags.split('&').filter(|f| !f.is_empty()).map(|f| dashed_flag(&format!("--{f}")));
    let flags = RunFlags::try_parse_from([format!("--model={model}")].into_iter().chain(flags));
    flags.map(|f| f.profile).map_err(|e| e.to_string().lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Shell;
    use ns_session::Workflow;

    fn spec_of(run: &str) -> Result<ProfileSpec, String> {
        profile_spec(&mut Driver::new(&Shell::default()), &flags_of(run)?).map_err(|e| e.to_string())
    }

    #[test]
    fn a_run_is_named_with_the_flags_of_the_profile_command() {
        let spec = spec_of("matmult:n=64,loop_count=2?workflow=trace&seed=7&auto_cast=none").unwrap();
        assert_eq!((spec.model.as_str(), spec.workflow, spec.seed), ("matmult:n=64,loop_count=2", Workflow::Trace, 7));
        assert_eq!(spec_of("nn").unwrap().workflow, Workflow::MarkStep);
        let error = spec_of("nn?workflow=fast").unwrap_err();
        assert!(error.contains("fast") && error.contains("workflow"), "{error}");
    }
}
