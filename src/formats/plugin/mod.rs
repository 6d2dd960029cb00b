//! The files of TensorBoard's Neuron plugin: operator tables (`table`) and the run directories that hold them (`runs`).
//! The plugin is archived, but its users still have its log directories.

mod runs;
mod table;

pub use runs::is_plugin_file;
pub(super) use runs::{join_runs, settle_view};
pub(super) use table::read_table;
