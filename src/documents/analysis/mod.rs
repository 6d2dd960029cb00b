//! Questions about any profile: tables ([`Listing`]) and trees, spreads and sentences ([`Question`]), computed in steps.

mod links;
mod listing;
mod memory;
mod path;
mod prepare;
mod question;
mod steps;
mod tables;

pub use links::{LinkedSentence, LinkedSlices};
pub use listing::{GroupsOf, LinkedTable, Listing, MembersOf, QueryOf, Rows, SliceFilter, Sources};
pub use path::{PathStep, PathSteps};
pub use prepare::{prepare_answer, prepare_table};
pub use question::{Answer, Question};
pub use steps::{Running, StepAnswer, TableOf};
