//! `neuronscope completions` and `neuronscope man`: both are made from the definitions of the commands.

use std::path::Path;

use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::Args;
use crate::output;
use crate::serve_args::{CompletionsArgs, ManArgs};
use crate::shell::Shell;

/// Name of the program.
const NAME: &str = "neuronscope";

/// Prints the completions of a shell.
pub(super) fn completions(shell: &Shell, args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), NAME, &mut script);
    shell.print(&script)
}

/// Writes a manual page for the program and for each command.
pub(super) fn man(shell: &Shell, args: &ManArgs) -> Result<()> {
    let folder = &args.folder;
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let pages = pages(shell, program, folder)?;
    let text = format!("{pages} manual pages are in {}; read one with man -l FILE\n", folder.display());
    shell.print(text.as_bytes())
}

/// Writes the pages of a command and of those below it; returns how many.
fn pages(shell: &Shell, command: Command, folder: &Path) -> Result<usize> {
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += pages(shell, below.clone(), folder)?;
    }
    let (page, mut text) = (Man::new(command), Vec::new());
    page.render(&mut text)?;
    output::write(shell, &folder.join(page.get_filename()), text)?;
    Ok(count)
}
