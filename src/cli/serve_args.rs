//! Flags of `serve`, `completions` and `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Port of 127.0.0.1; if it is in use, the next free port is taken; 0 takes any free port
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Open the page in the default browser
    #[arg(long)]
    pub open: bool,
    /// Serve a built page from this folder instead of the page in the program
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// Folder for the pages, one for each command; it is created if it is missing
    pub folder: PathBuf,
}
