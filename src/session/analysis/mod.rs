//! Questions about any profile: tables ([`Listing`]) and trees, spreads and sentences ([`Question`]), computed in steps.

mod links;
mod listing;
mod memory;
mod path;
mod prepare;
mod question;
mod run;
mod steps;
mod tables;

pub use links::{LinkedSentence, LinkedSlices};
pub(super) use listing::Sources;
pub use listing::{GroupsOf, LinkedTable, Listing, MembersOf, QueryOf, Rows, SliceFilter};
pub use path::{PathStep, PathSteps};
pub use question::{Answer, Question};
pub(super) use run::AnalysisRun;
