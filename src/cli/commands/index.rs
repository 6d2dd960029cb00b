//! `neuronscope index`: NeuronPerf's `model_index` functions.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::index_files::carry_out;
use super::text;
use crate::file;
use crate::host;
use crate::index_args::{CopyArgs, IndexCommand};
use crate::output::{lock_folder, write};
use ns_session::ModelEntry;
use ns_session::reports::{
    IndexAnswer, append_indexes, copy_index, create_index, delete_index, filter_index, show_index,
};
use ns_view::terminal;

pub(super) fn run(command: IndexCommand) -> Result<()> {
    match command {
        IndexCommand::Create { artifact, model, model_name, batch_size, pipeline_size, performance_level, output } => {
            let filename = Some(artifact);
            let sizes = ModelEntry { batch_size, pipeline_size, performance_level, ..ModelEntry::default() };
            let new = create_index(ModelEntry { filename, model, ..sizes }, model_name.as_deref())?;
            let path = output.unwrap_or_else(|| PathBuf::from(new.file_name));
            write(&path, &new.json)?;
            text::print(format!("{}\n", path.display()).as_bytes())
        }
        IndexCommand::Append { indexes, output } => {
            let _one_at_a_time = lock_folder(&output);
            let read = |path: &PathBuf| Ok((path_text(path), file::read_text(path)?));
            let files: Vec<(String, String)> = indexes.iter().map(read).collect::<Result<_>>()?;
            write(&output, with_warnings(append_indexes(&files)?))
        }
        IndexCommand::Show { index } => {
            let entries = with_warnings(show_index(&path_text(&index), &file::read_text(&index)?)?);
            text::print_lines(&terminal::document(&entries))
        }
        IndexCommand::Filter { index, filters, output } => {
            let matches = with_warnings(filter_index(&path_text(&index), &file::read_text(&index)?, &filters)?);
            match output {
                Some(path) => write(&path, &matches),
                None => text::print(matches.as_bytes()),
            }
        }
        IndexCommand::Copy(args) => copy(&args, false),
        IndexCommand::Move(args) => copy(&args, true),
        IndexCommand::Delete { index } => {
            if !index.exists() {
                host::say(&format!("note: {}: does not exist", index.display()));
                return Ok(());
            }
            carry_out(&with_warnings(delete_index(&path_text(&index), &file::read_text(&index)?)?), &index)
        }
    }
}

fn copy(CopyArgs { old_index, new_index, new_dir }: &CopyArgs, moves: bool) -> Result<()> {
    let (old, new) = (path_text(old_index), path_text(new_index));
    carry_out(&with_warnings(copy_index(&old, &file::read_text(old_index)?, [&new, new_dir], moves)?), old_index)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Prints the warnings of an answer, and returns it.
pub(super) fn with_warnings<T>(IndexAnswer { answer, warnings }: IndexAnswer<T>) -> T {
    warnings.iter().for_each(|warning| host::say(&format!("note: {warning}")));
    answer
}
