//! `neuronscope index`: NeuronPerf's `model_index` functions.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::index_files::carry_out;
use super::text;
use crate::file;
use crate::host;
use crate::index_args::IndexCommand;
use crate::output::{lock_folder, write};
use ns_bench::{FilePlan, IndexFilter, ModelEntry, ModelIndex};

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
            let _one_at_a_time = lock_folder(&output);
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
            carry_out(&plan.map_err(anyhow::Error::msg)?, &args.old_index)
        }
        IndexCommand::Move(args) => {
            let (old, new) = (path_text(&args.old_index), path_text(&args.new_index));
            let plan = FilePlan::moved(&load(&args.old_index)?, &old, &new, &args.new_dir);
            carry_out(&plan.map_err(anyhow::Error::msg)?, &args.old_index)
        }
        IndexCommand::Delete { index } => {
            if !index.exists() {
                host::say(&format!("note: {}: does not exist", index.display()));
                return Ok(());
            }
            carry_out(&FilePlan::delete(&load(&index)?, &path_text(&index)), &index)
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
    let text = file::read_text(path)?;
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
