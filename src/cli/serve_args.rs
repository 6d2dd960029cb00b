//! Flags of `serve`, `completions` and `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct ServeArgs {
    /// Port of 127.0.0.1; the next free one is taken where it is in use, and 0 is any free one
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Open the page in the browser of the system
    #[arg(long)]
    pub open: bool,
    /// Serve a built page from this folder instead of the one in the program
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct ManArgs {
    /// Folder for the pages, one for each command; it is made where it is missing
    pub folder: PathBuf,
}
