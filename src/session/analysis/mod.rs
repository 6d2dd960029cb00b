//! Questions about any profile: tables ([`Listing`]) and trees, spreads and sentences ([`Question`]), computed in steps.

mod asked;
mod groups;
mod listing;
mod members;
mod question;
mod run;

pub(super) use listing::Sources;
pub use listing::{Chosen, GroupsOf, Listed, Listing, MembersOf};
pub use question::{Answer, Question};
pub(super) use run::{AnalysisRun, Asked};
