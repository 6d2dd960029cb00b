//! A profile as the timeline shows it: which rows there are, what to draw of them, and what a click tells.

mod details;
mod highlight;
mod locate;
mod outline;
mod tile;

pub(super) use details::{link, neighbour, search, slice_details};
pub(super) use highlight::{Highlight, NO_NAME, group_hits, level_of, own_name};
pub(super) use locate::locate;
pub(super) use outline::ShownTracks;
pub(super) use tile::tile;
