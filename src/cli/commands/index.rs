//! `neuronscope index`: NeuronPerf's `model_index` functions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::text;
use crate::host;
use crate::index_args::IndexCommand;
use crate::output::write;
use ns_bench::{FilePlan, FileStep, IndexFilter, ModelEntry, ModelIndex};

pub(super) fn run(command: IndexCommand) -> Result<()> {
    match command {
        IndexCommand::Create { artifact, model, model_name, batch_size, pipeline_size, performance_level, output } => {
            let entry = ModelEntry {
                filename: Some(artifact),
                batch_size,
                pipeline_size,
                performance_level,
                model,
                ..ModelEntry::default()
            };
            let index = checked(ModelIndex::create(entry, model_name.as_deref()))?;
            let path = output.unwrap_or_else(|| PathBuf::from(index.file_name()));
            write(&path, &json(&index)?)?;
            text::print(format!("{}\n", path.display()).as_bytes())
        }
        IndexCommand::Append { indexes, output } => {
            let read: Vec<ModelIndex> = indexes.iter().map(|p| load(p)).collect::<Result<_>>()?;
            let Some(sum) = ModelIndex::append(&read) else { bail!("no index to append is named") };
            sum.warnings.iter().for_each(|w| host::say(&format!("note: {w}")));
            write(&output, &json(&sum.index)?)
        }
        IndexCommand::Filter { index, filters, output } => {
            let kept = json(&load(&index)?.filter(&parse_filters(&filters)?))?;
            match output {
                Some(path) => write(&path, &kept),
                None => text::print(kept.as_bytes()),
            }
        }
        IndexCommand::Copy(args) => {
            let plan = FilePlan::copy(&load(&args.old_index)?, &path_text(&args.new_index), &args.new_dir);
            carry_out(&plan.map_err(anyhow::Error::msg)?)
        }
        IndexCommand::Move(args) => {
            let (old, new) = (path_text(&args.old_index), path_text(&args.new_index));
            let plan = FilePlan::moved(&load(&args.old_index)?, &old, &new, &args.new_dir);
            carry_out(&plan.map_err(anyhow::Error::msg)?)
        }
        IndexCommand::Delete { index } => {
            if !index.exists() {
                host::say(&format!("note: {}: does not exist", index.display()));
                return Ok(());
            }
            carry_out(&FilePlan::delete(&load(&index)?, &path_text(&index)))
        }
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

fn json(index: &ModelIndex) -> Result<String> {
    index.to_json().map_err(anyhow::Error::msg)
}

fn load(path: &Path) -> Result<ModelIndex> {
    let text = fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let read = ModelIndex::read_file(&text, &path_text(path))
        .with_context(|| format!("{}: is not a model index", path.display()))?;
    read.warnings.iter().for_each(|w| host::say(&format!("note: {}: {w}", path.display())));
    Ok(read.index)
}

/// The typed values go through the index reader, which checks their ranges.
fn checked(index: ModelIndex) -> Result<ModelIndex> {
    let read = ModelIndex::read(&json(&index)?)?;
    match read.warnings.first() {
        Some(warning) => bail!("{warning}"),
        None => Ok(index),
    }
}

fn parse_filters(filters: &[String]) -> Result<IndexFilter> {
    let mut filter = IndexFilter::default();
    for text in filters {
        let Some((field, values)) = text.split_once('=') else {
            bail!("'{text}' is not a filter; write field=value,value, such as batch_size=1,2")
        };
        filter = filter.with(field.trim(), &values.split(',').map(str::trim).collect::<Vec<_>>())?;
    }
    Ok(filter)
}

fn carry_out(plan: &FilePlan) -> Result<()> {
    for step in &plan.steps {
        match step {
            FileStep::Copy { from, to } => copy(Path::new(from), Path::new(to))?,
            FileStep::Write { path, text } => write(Path::new(path), text)?,
            FileStep::Remove { path } => remove(Path::new(path))?,
        }
    }
    Ok(())
}

/// An artifact may be a file or, as for TensorFlow, a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("{}: cannot be copied to {}", from.display(), to.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(failed)?;
        for entry in fs::read_dir(from).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    fs::copy(from, to).map(drop).with_context(failed)
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            host::say(&format!("note: {}: does not exist", path.display()));
            Ok(())
        }
        other => other.with_context(|| format!("{}: cannot be removed", path.display())),
    }
}
