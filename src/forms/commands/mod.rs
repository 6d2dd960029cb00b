//! Command lines that give the content of a view of the page, for users who continue in a terminal or a script.
//!
//! A command holds everything about the run that a link holds, and those parts of the view that the command line has: a grouping, a level, a span.
//! Studies and records of experiments print theirs in their documents. A command is printed for a POSIX shell. A link to a model file cannot name the file on another machine, so no command is shown for it.

mod bench;
mod experiments;
mod inspect;
mod profile;
mod shell;

pub use bench::bench_command;
pub use experiments::experiment_command;
pub use inspect::inspect_command;
pub use profile::profile_command;
pub use shell::{CommandLine, has_name, quoted};
