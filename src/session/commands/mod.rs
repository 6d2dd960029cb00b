//! Command lines that give what a view of the page shows, for people who go on in a terminal or a script.
//!
//! A command holds all that a link holds of the run, and of the view what the command line has too: a grouping, a level, a span.
//! Studies and experiments print theirs in their documents. A command is printed for a POSIX shell. A link to a model file cannot name the file on another machine, so a view of it prints no command.

mod bench;
mod profile;
mod runs;
mod shell;

pub use bench::bench_command;
pub use profile::profile_command;
pub use runs::{inspect_command, numerics_command};
pub(in crate::session) use shell::quoted;
