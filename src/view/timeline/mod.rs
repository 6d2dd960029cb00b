//! The timeline: its content ([`Outline`], [`TimelineTile`]), its position ([`Viewport`], [`Layout`]), and how it is painted
//! ([`DisplayList`]). Sections hold tracks, tracks hold rows, one for each level of nesting.

mod annotation;
mod arrangement;
mod describe;
mod details;
mod display_list;
mod history;
mod hit_test;
mod layout;
mod minimap;
mod outline;
mod overlay;
mod packed;
#[cfg(test)]
mod sample;
mod scene;
mod slices;
mod svg;
mod ticks;
mod tile;
mod viewport;

pub use annotation::{Annotation, next_label};
pub use arrangement::Arrangement;
pub use describe::{SliceInView, describe_slice, slices_in_view};
pub use details::{Neighbour, SliceDetails, SliceLink, is_plain_in};
pub use display_list::{Align, Command, DisplayList, Label, Rect, Strip};
pub use history::ViewHistory;
pub use hit_test::{Hit, TileSlice, hit, nearest_on_row, row_above_or_below, slice_in_tile};
pub use layout::{BlockKind, Layout, LayoutBlock, Metrics};
pub use minimap::{Minimap, dense_part};
pub use outline::{Outline, Section, Track, TrackId, TrackKind};
pub use overlay::{Area, FlowArrow, Overlay};
pub use scene::{TimelineScene, paint};
pub use slices::NameLooks;
pub use svg::to_svg;
pub use ticks::{Tick, Ticks, ticks};
pub use tile::{GroupKind, NO_SLICE, SliceGroup, SliceRef, TimelineQuery, TimelineTile, TrackTile};
pub use viewport::{Viewport, common_axis};
