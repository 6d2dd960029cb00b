//! The shapes of some tracks in a span of time, at the resolution of the screen.

use serde::{Deserialize, Serialize};

use super::{TrackId, packed};
use ns_analysis::GroupBy;
use ns_base::{Interval, TraceNs};

/// Identifies one slice of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SliceRef(pub u32);

/// In [`TrackTile::slice`]: several slices drawn as one.
pub const NO_SLICE: SliceRef = SliceRef(u32::MAX);

/// The question for a tile: which tracks and which span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineQuery {
    /// The span, usually wider than the screen so that panning has something to show.
    pub span: Interval<TraceNs>,
    /// Slices of one row that lie within this number of nanoseconds may be merged into one; at least 1, a power of two.
    pub resolution_ns: u64,
    /// The tracks that are on the screen.
    pub tracks: Vec<TrackId>,
    /// The group of slices that is highlighted.
    pub group: Option<SliceGroup>,
}

/// The criterion of a group of slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupKind {
    /// The property that its slices share.
    pub by: GroupBy,
    /// The level of its slices, `all` for every level; `None` for the default level.
    pub level: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceGroup {
    pub kind: GroupKind,
    pub name: String,
}

/// The shapes to draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineTile {
    /// The span that was asked for.
    pub span: Interval<TraceNs>,
    /// The resolution that was asked for.
    pub resolution_ns: u64,
    /// Names used by the tracks, each once; if a group is highlighted, once for slices in it and once for slices outside.
    pub names: Vec<String>,
    /// The highlighted group, and for each name whether slices of that name belong to it; if `None`, nothing is
    /// dimmed.
    pub group: Option<(SliceGroup, Vec<bool>)>,
    /// One entry for each requested track.
    pub tracks: Vec<TrackTile>,
}

/// One track of a tile, as columns of equal length, ordered by row and then by start. For a counter track a "slice" is
/// the time for which a value holds, and [`TrackTile::value`] has that value (the largest one if values are merged).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrackTile {
    pub track: TrackId,
    /// Start of each slice, nanoseconds from the origin of the profile.
    #[serde(with = "packed")]
    pub start_ns: Vec<i64>,
    /// Duration of each slice in nanoseconds; 0 for an instant.
    #[serde(with = "packed")]
    pub duration_ns: Vec<u64>,
    /// Row of each slice within the track, 0 on top.
    #[serde(with = "packed")]
    pub row: Vec<u16>,
    /// Position of each slice's name in [`TimelineTile::names`]; for merged slices, of the longest slice's name.
    #[serde(with = "packed")]
    pub name: Vec<u32>,
    /// The slice, or [`NO_SLICE`] if several are merged.
    #[serde(with = "packed")]
    pub slice: Vec<SliceRef>,
    /// Number of slices that it represents: 1, or more if merged.
    #[serde(with = "packed")]
    pub count: Vec<u32>,
    /// Values of a counter track; empty for others.
    #[serde(with = "packed")]
    pub value: Vec<f64>,
}

impl TrackTile {
    /// Number of slices to draw.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether the tile has no slices.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// Adds a single slice that is not merged.
    pub fn push(&mut self, slice: SliceRef, row: u16, name: u32, start_ns: i64, duration_ns: u64) {
        self.push_merged(slice, row, name, start_ns, duration_ns, 1);
    }

    /// Adds `count` slices drawn as one.
    pub fn push_merged(&mut self, slice: SliceRef, row: u16, name: u32, start_ns: i64, duration_ns: u64, count: u32) {
        self.start_ns.push(start_ns);
        self.duration_ns.push(duration_ns);
        self.row.push(row);
        self.name.push(name);
        self.slice.push(slice);
        self.count.push(count);
    }
}

impl TimelineTile {
    /// The columns of a track, if it was requested.
    pub fn track(&self, id: TrackId) -> Option<&TrackTile> {
        self.tracks.iter().find(|t| t.track == id)
    }

    /// The name of slice `i` of a track.
    pub fn name_of<'a>(&'a self, track: &TrackTile, i: usize) -> &'a str {
        track.name.get(i).and_then(|n| self.names.get(*n as usize)).map_or("", String::as_str)
    }
}
