//! Running experiments: the bar above the results, the form below them, the runs of earlier visits.

mod actions;
mod bar;
mod form;
mod hooks;
mod kept_runs;
mod models;
mod table;

pub use actions::RunActions;
pub use bar::{FormToggle, RunBar};
pub use form::RunForm;
pub use hooks::{use_example, use_listing, use_run_records};
pub use kept_runs::KeptRuns;
