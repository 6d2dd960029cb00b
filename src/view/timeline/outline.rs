//! The structure of a timeline: sections, tracks, rows.

use serde::{Deserialize, Serialize};

use ns_base::{Interval, TraceNs};
use ns_profile::Unit;

/// Identifies one track of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrackId(pub u32);

/// The structure of the whole timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Span from the first to the last event, nanoseconds from the origin of the profile.
    pub span: Interval<TraceNs>,
    /// Unit of the numbers along the axis.
    pub unit: Unit,
    /// Sections from top to bottom.
    pub sections: Vec<Section>,
}

/// A group of tracks: a process of a trace, or "Process Execution".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Text in its bar.
    pub name: String,
    /// Tracks from top to bottom.
    pub tracks: Vec<Track>,
}

/// One track: a thread of a trace, or "HLO Ops".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Its name in queries.
    pub id: TrackId,
    /// Text beside it; empty for the rows of a module hierarchy.
    pub name: String,
    pub kind: TrackKind,
}

/// The content of a track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrackKind {
    /// Slices, in at least one row.
    Slices {
        /// Number of rows: the depth to which slices nest.
        rows: u16,
    },
    /// A value over time, as an area.
    Counter {
        /// Smallest value in the profile.
        min: f64,
        /// Largest value in the profile.
        max: f64,
    },
    /// Instants without duration.
    Instants,
}

impl Outline {
    /// All tracks from top to bottom.
    pub fn tracks(&self) -> impl Iterator<Item = &Track> {
        self.sections.iter().flat_map(|s| s.tracks.iter())
    }

    /// Position of the section that a track is in.
    pub fn section_of(&self, id: TrackId) -> Option<usize> {
        self.sections.iter().position(|s| s.tracks.iter().any(|t| t.id == id))
    }

    pub fn find(&self, id: TrackId) -> Option<(&Section, &Track)> {
        self.sections.iter().find_map(|s| s.tracks.iter().find(|t| t.id == id).map(|t| (s, t)))
    }
}

impl Section {
    /// A track of this section in full: `python / main`.
    pub fn name_of(&self, track: &Track) -> String {
        if track.name.is_empty() { self.name.clone() } else { format!("{} / {}", self.name, track.name) }
    }
}
