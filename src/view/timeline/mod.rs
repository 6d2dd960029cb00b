//! The timeline: what it shows ([`Outline`], [`TimelineTile`]), where ([`Viewport`], [`Layout`]), and as what
//! ([`DisplayList`]). Sections hold tracks, tracks hold rows, one for each level of nesting.

mod details;
mod outline;
mod tile;

pub use details::{Neighbour, SliceDetails, SliceLink};
pub use outline::{Outline, Section, Track, TrackId, TrackKind};
pub use tile::{NO_SLICE, SliceRef, TimelineQuery, TimelineTile, TrackTile};
