//! Command lines that give what a view of the page shows, for people who go on in a terminal or a script.
//!
//! A command holds all that a link holds of the run, and of the view what the command line has too: a grouping, a level, a span.
//! Studies and experiments print theirs in their documents. A command is printed for a POSIX shell. A view of a model file names no file that another machine has, so there is no command of it.

mod bench;
mod profile;
mod runs;
mod shell;

pub use bench::bench_command;
pub use profile::profile_command;
pub use runs::{inspect_command, numerics_command};
pub(in crate::session) use shell::quoted;
