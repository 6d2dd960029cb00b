//! Everything about one slice.

use serde::{Deserialize, Serialize};

use super::{SliceRef, TrackId};

/// A slice that can be jumped to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceLink {
    /// The slice.
    pub slice: SliceRef,
    /// Its track.
    pub track: TrackId,
    /// Its row within the track.
    pub row: u16,
    /// Its name.
    pub title: String,
    /// Start, nanoseconds from the origin of the profile.
    pub start_ns: i64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
}

/// Everything about one slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceDetails {
    /// Which, where and when.
    pub link: SliceLink,
    /// Category; empty when it has none.
    pub category: String,
    /// Time not spent in nested slices, in nanoseconds, where slices nest.
    pub self_ns: Option<u64>,
    /// Arguments in the order of the file, name and value as text.
    pub args: Vec<(String, String)>,
    /// For a fused operator: full paths of what it is made of.
    pub members: Vec<String>,
    /// Slices this one lies in, the outermost first.
    pub parents: Vec<SliceLink>,
    /// Slices that led here (flow arrows).
    pub predecessors: Vec<SliceLink>,
    /// Slices this one leads to (flow arrows).
    pub successors: Vec<SliceLink>,
    /// What is special about it, in sentences.
    pub notes: Vec<String>,
}

/// The next slice in which direction?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Neighbour {
    /// The next one to start on the same row.
    Next,
    /// The last one before on the same row.
    Previous,
}
