//! `neuronscope completions` and `neuronscope man`: both are made from the definitions of the commands.

use std::path::Path;

use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::text;
use crate::args::Args;
use crate::output;
use crate::serve_args::{CompletionsArgs, ManArgs};

/// Name of the program.
const NAME: &str = "neuronscope";

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), NAME, &mut script);
    text::print(&script)
}

/// Writes a manual page for the program and for each command.
pub(super) fn man(args: &ManArgs) -> Result<()> {
    let folder = &args.folder;
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let pages = pages(program, folder)?;
    let text = format!("{pages} manual pages are in {}; read one with man -l FILE\n", folder.display());
    text::print(text.as_bytes())
}

/// Writes the pages of a command and of those below it; returns how many.
fn pages(command: Command, folder: &Path) -> Result<usize> {
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += pages(below.clone(), folder)?;
    }
    let (page, mut text) = (Man::new(command), Vec::new());
    page.render(&mut text)?;
    output::write(&folder.join(page.get_filename()), text)?;
    Ok(count)
}
