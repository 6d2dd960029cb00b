//! The options of a benchmark as one table: the page's form, links, the flags of the command line and their help come from its rows.

mod option;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use option::{BenchOption, Flag, OptionGroup};
pub use table::BENCH_OPTIONS;
