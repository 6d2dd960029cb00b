//! The state of the page of experiments: the records with their views, and the run that makes some.

mod plan;
mod state;

pub use plan::{PlanAction, PlanState};
pub use state::{ExperimentsAction, ExperimentsState, RUN_FILE, SAMPLE};
