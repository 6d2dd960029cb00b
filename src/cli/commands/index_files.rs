//! The files of an index: which of them `index copy`, `move` and `delete` may touch. An index is passed on and edited by hand, so a name in
//! it is no reason to trust a file: only artifacts that `compile` wrote, below the index's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::output::{parent, write};
use crate::shell::Shell;
use ns_session::reports::is_artifact as has_artifact;
use ns_session::{FilePlan, FileStep};

/// Most bytes of an artifact; `compile` writes a few thousand.
const MOST_BYTES: u64 = 64 << 20;

/// Carries out a plan for the files of `index`, and names each file before. All of them are checked before the first is touched.
/// Fails when a file is not an artifact, or not below the folder of the index; when something would be overwritten that is not an
/// artifact.
pub(super) fn carry_out(shell: &Shell, plan: &FilePlan, index: &Path) -> Result<()> {
    check(plan, index)?;
    let is_written = |path: &str| plan.steps.iter().filter_map(target).any(|target| is_same(target, path));
    for step in &plan.steps {
        match step {
            FileStep::Copy { from, to } if !is_same(from, to) => {
                shell.note(&format!("{from} is copied to {to}"));
                let bytes = fs::read(from).with_context(|| format!("{from}: cannot be read"))?;
                write(shell, Path::new(to), bytes)?;
            }
            FileStep::Write { path, text } => write(shell, Path::new(path), text)?,
            // A file that another spelling of its name has just written stays.
            FileStep::Remove { path } if !is_written(path) => remove(shell, path)?,
            FileStep::Copy { .. } | FileStep::Remove { .. } => {}
        }
    }
    Ok(())
}

/// Looks at every file of a plan, and touches none.
fn check(plan: &FilePlan, index: &Path) -> Result<()> {
    let folder = parent(index);
    let top = fs::canonicalize(folder).with_context(|| format!("{}: cannot be opened", folder.display()))?;
    let mut targets: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for step in &plan.steps {
        match step {
            FileStep::Copy { from, to } => {
                if Path::new(from).symlink_metadata().is_err() {
                    bail!("{from}: does not exist; compile it again, or take it out of the index");
                }
                check_artifact(from, &top)?;
                if Path::new(to).symlink_metadata().is_ok() && !is_same(from, to) && !is_artifact(Path::new(to))? {
                    bail!("{to}: is not an artifact and would be overwritten; name another folder");
                }
            }
            FileStep::Remove { path } if Path::new(path) != index => check_artifact(path, &top)?,
            FileStep::Write { .. } | FileStep::Remove { .. } => {}
        }
        if let Some(target) = target(step)
            && let Some(other) = targets.insert(place(target).unwrap_or_else(|_| PathBuf::from(target)), target)
        {
            bail!("{other} and {target} would be one file; name another index or another folder");
        }
    }
    Ok(())
}

/// Refuses what an index may not name. A file that is not there is no harm.
fn check_artifact(name: &str, top: &Path) -> Result<()> {
    const DO: &str = "nothing was changed; take it out of the index, or look after it yourself";
    let path = Path::new(name);
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let folder = fs::canonicalize(parent(path)).with_context(|| format!("{name}: cannot be opened"))?;
    if !folder.starts_with(top) || path.file_name().is_none() {
        bail!("{name}: is not below {}, the folder of the index: {DO}", top.display());
    }
    if !is_artifact(path)? {
        bail!("{name}: is not an artifact that neuronscope compiled: {DO}");
    }
    Ok(())
}

/// Whether a path is an artifact itself: not a link, a folder or a device.
fn is_artifact(path: &Path) -> Result<bool> {
    let about = || format!("{}: cannot be read", path.display());
    let metadata = path.symlink_metadata().with_context(about)?;
    let may_be = metadata.is_file() && metadata.len() <= MOST_BYTES;
    Ok(may_be && has_artifact(&fs::read(path).with_context(about)?))
}

fn target(step: &FileStep) -> Option<&str> {
    match step {
        FileStep::Copy { to: path, .. } | FileStep::Write { path, .. } => Some(path),
        FileStep::Remove { .. } => None,
    }
}

/// One spelling of a path, whose folder has to be there.
fn place(path: &str) -> std::io::Result<PathBuf> {
    let path = Path::new(path);
    Ok(fs::canonicalize(parent(path))?.join(path.file_name().unwrap_or_default()))
}

fn is_same(one: &str, other: &str) -> bool {
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

fn remove(shell: &Shell, path: &str) -> Result<()> {
    if Path::new(path).symlink_metadata().is_err() {
        shell.note(&format!("{path}: does not exist"));
        return Ok(());
    }
    shell.note(&format!("{path} is removed"));
    fs::remove_file(path).with_context(|| format!("{path}: cannot be removed"))
}
