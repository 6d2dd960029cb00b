//! `neuronscope index`: NeuronPerf's `model_index` functions.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::index_files::carry_out;
use crate::file;
use crate::index_args::{CopyArgs, IndexCommand};
use crate::output::{lock_folder, write};
use crate::shell::Shell;
use ns_session::ModelEntry;
use ns_session::reports::{
    IndexAnswer, append_indexes, copy_index, create_index, delete_index, filter_index, show_index,
};
use ns_view::terminal;

pub(super) fn run(shell: &Shell, command: IndexCommand) -> Result<()> {
    match command {
        IndexCommand::Create { artifact, model, model_name, batch_size, pipeline_size, performance_level, output } => {
            let filename = Some(artifact);
            let sizes = ModelEntry { batch_size, pipeline_size, performance_level, ..ModelEntry::default() };
            let new = create_index(ModelEntry { filename, model, ..sizes }, model_name.as_deref())?;
            let path = output.unwrap_or_else(|| PathBuf::from(new.file_name));
            write(shell, &path, &new.json)?;
            shell.print(format!("{}\n", path.display()).as_bytes())
        }
        IndexCommand::Append { indexes, output } => {
            let _one_at_a_time = lock_folder(&output);
            let read = |path: &PathBuf| Ok((path_text(path), file::read_text(shell, path)?));
            let files: Vec<(String, String)> = indexes.iter().map(read).collect::<Result<_>>()?;
            write(shell, &output, with_warnings(shell, append_indexes(&files)?))
        }
        IndexCommand::Show { index } => {
            let entries = with_warnings(shell, show_index(&path_text(&index), &file::read_text(shell, &index)?)?);
            shell.print_lines(&terminal::document(&entries))
        }
        IndexCommand::Filter { index, filters, output } => {
            let matches =
                with_warnings(shell, filter_index(&path_text(&index), &file::read_text(shell, &index)?, &filters)?);
            match output {
                Some(path) => write(shell, &path, &matches),
                None => shell.print(matches.as_bytes()),
            }
        }
        IndexCommand::Copy(args) => copy(shell, &args, false),
        IndexCommand::Move(args) => copy(shell, &args, true),
        IndexCommand::Delete { index } => {
            if !index.exists() {
                shell.note(&format!("{}: does not exist", index.display()));
                return Ok(());
            }
            carry_out(
                shell,
                &with_warnings(shell, delete_index(&path_text(&index), &file::read_text(shell, &index)?)?),
                &index,
            )
        }
    }
}

fn copy(shell: &Shell, CopyArgs { old_index, new_index, new_dir }: &CopyArgs, moves: bool) -> Result<()> {
    let (old, new) = (path_text(old_index), path_text(new_index));
    carry_out(
        shell,
        &with_warnings(shell, copy_index(&old, &file::read_text(shell, old_index)?, [&new, new_dir], moves)?),
        old_index,
    )
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Prints the warnings of an answer, and returns it.
pub(super) fn with_warnings<T>(shell: &Shell, IndexAnswer { answer, warnings }: IndexAnswer<T>) -> T {
    warnings.iter().for_each(|warning| shell.note(warning));
    answer
}
