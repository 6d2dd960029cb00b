//! `neuronscope completions` and `neuronscope man`: both are made from the definitions of the commands.

use std::fs;

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::text;
use crate::args::Args;
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
    fs::create_dir_all(folder).with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    clap_mangen::generate_to(Args::command(), folder)
        .with_context(|| format!("{}: the pages cannot be written", folder.display()))?;
    let pages = fs::read_dir(folder)?.filter_map(|e| e.ok()).filter(|e| e.path().extension().is_some_and(|x| x == "1"));
    let text = format!("{} manual pages are in {}; read one with man -l FILE\n", pages.count(), folder.display());
    text::print(text.as_bytes())
}
