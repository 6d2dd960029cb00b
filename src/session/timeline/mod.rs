//! A profile as the timeline shows it: its rows, what to draw on them, and the details for a click.

mod details;
mod highlight;
mod locate;
mod outline;
mod tile;

pub use details::SearchHits;
pub(super) use details::{link, neighbour, search, slice_details};
pub(super) use highlight::{Highlight, NO_NAME, group_hits, level_of, own_name};
pub(super) use locate::locate;
pub(super) use outline::ViewTracks;
pub(super) use tile::tile;
