//! The first view of a profile: its main numbers, where the time went, its steps, and what to change first, each with a link
//! to its evidence.

mod device;
mod document;
mod evidence;
mod findings;
mod limits;
mod published;
mod tiles;

pub(super) use document::{Context, overview_document};
pub use evidence::Evidence;
pub use limits::{bounds_table, limits_table, lost_time_table};
pub use published::{TimeBeside, window};
