//! Everything about one slice.

use serde::{Deserialize, Serialize};

use super::{SliceRef, TrackId};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::{Interval, TraceNs};

/// A slice that can be jumped to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceLink {
    pub slice: SliceRef,
    pub track: TrackId,
    /// Its row within the track.
    pub row: u16,
    pub title: String,
    /// Start, nanoseconds from the origin of the profile.
    pub start_ns: i64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
}

/// Everything about one slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceDetails {
    /// Its identity, place and time.
    pub link: SliceLink,
    /// Category; empty when it has none.
    pub category: String,
    /// Time not spent in nested slices, in nanoseconds, if slices nest.
    pub self_ns: Option<u64>,
    /// Arguments in the order of the file, name and value as text.
    pub args: Vec<(String, String)>,
    /// For a fused operator: full paths of its members.
    pub members: Vec<String>,
    /// Slices this one lies in, the outermost first.
    pub parents: Vec<SliceLink>,
    /// Slices that led here (flow arrows).
    pub predecessors: Vec<SliceLink>,
    /// Slices this one leads to (flow arrows).
    pub successors: Vec<SliceLink>,
    /// Special facts about it, as sentences.
    pub notes: Vec<String>,
}

/// The direction of the next slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Neighbour {
    /// The next one to start on the same row.
    Next,
    /// The previous one on the same row.
    Previous,
}

/// A slice is visible from this share of the screen on: about ten pixels.
const LEAST_SHARE: f64 = 0.008;

/// Whether a slice is visible on a screen that shows `seen`: it begins there and is wide enough.
pub fn is_plain_in(seen: Interval<TraceNs>, slice: &SliceLink) -> bool {
    let length = i64_to_f64(seen.end.0.saturating_sub(seen.start.0));
    let begins = seen.start.0 <= slice.start_ns && slice.start_ns < seen.end.0;
    begins && u64_to_f64(slice.duration_ns) >= length * LEAST_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_that_is_too_small_or_elsewhere_is_zoomed_to() {
        let seen = Interval::new(TraceNs(1_000), TraceNs(2_000));
        let slice = |start_ns, duration_ns| SliceLink {
            slice: SliceRef(0),
            track: TrackId(0),
            row: 0,
            title: String::new(),
            start_ns,
            duration_ns,
        };
        assert!(is_plain_in(seen, &slice(1_500, 8)));
        assert!(!is_plain_in(seen, &slice(1_500, 7)));
        assert!(!is_plain_in(seen, &slice(2_000, 500)) && !is_plain_in(seen, &slice(900, 500)));
    }
}
