//! Questions about any profile: tables ([`Listing`]) and trees, spreads and sentences ([`Question`]), computed in steps.

mod listing;
mod path;
mod prepare;
mod question;
mod run;
mod shown;
mod steps;
mod tables;

pub(super) use listing::Sources;
pub use listing::{Chosen, GroupsOf, Listed, Listing, MembersOf, QueryOf, Rows};
pub use path::{PathShown, PathStep};
pub use question::{Answer, Question};
pub(super) use run::AnalysisRun;
pub use shown::{InOrderShown, Said};
