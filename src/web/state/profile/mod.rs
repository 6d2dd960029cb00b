//! The state of the profile page.

mod action;
mod open_run;
mod state;

pub use action::ProfileAction;
pub use open_run::{CountedOperators, OpenRun};
pub use state::{Flows, ProfileState, SAMPLE};
