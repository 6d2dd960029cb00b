//! Questions about any profile: tables ([`Listing`]) and trees, spreads and sentences ([`Question`]), computed in steps.

mod ask;
mod counters;
mod groups;
mod idle;
mod in_order;
mod listing;
mod members;
mod path;
mod prepare;
mod question;
mod run;
mod said;
mod steps;

pub use in_order::InOrderShown;
pub(super) use listing::Sources;
pub use listing::{Chosen, GroupsOf, Listed, Listing, MembersOf, QueryOf, Rows};
pub use path::{PathShown, PathStep};
pub use question::{Answer, Question};
pub(super) use run::AnalysisRun;
pub use said::Said;
