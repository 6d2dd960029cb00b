//! A profile as the timeline shows it: its rows, what to draw on them, and the details for a click.

mod details;
mod highlight;
mod locate;
mod outline;
mod tile;

pub use details::{SearchHits, link, neighbour, search, slice_details};
pub use highlight::{Highlight, group_hits, level_of};
pub(super) use highlight::{NO_NAME, own_name};
pub use locate::locate;
pub use outline::ViewTracks;
pub use tile::tile;
