//! The options of a benchmark as one table: the page's form, links, the flags of the command line and their help come from its rows.
//! The options of a run of experiments are another one.

mod call;
mod experiments;
mod option;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use call::{NeuronperfCall, read_neuronperf_call};
pub use experiments::{PLAN_OPTIONS, PlanOption, default_experiments, measures};
pub(crate) use option::compiler_rows;
pub use option::{Flag, Opt, OptionGroup, Options, Takes};
pub use option::{command_line, fields, flag, opt};
pub use table::{BENCH_OPTIONS, BenchOption};
pub use text::{Choice, OptionText, name_of_choice, names, some};
