//! Slices of one thread by time, to be drawn.

use serde::{Deserialize, Serialize};

use super::listing::Sources;
use crate::analysis::in_order::InOrder;
use crate::session::timeline::link;
use crate::view::timeline::{SliceLink, TrackId};

/// The longest slices of a thread, by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InOrderShown {
    /// The track that shows the thread; absent when no slice was selected.
    pub track: Option<TrackId>,
    /// Slices by start, outer ones before inner ones.
    pub slices: Vec<SliceLink>,
    /// Number of shorter slices that are left out.
    pub omitted: u64,
}

/// The same with links.
pub(super) fn in_order_shown(sources: &Sources<'_>, found: &InOrder) -> InOrderShown {
    InOrderShown {
        track: found.track.map(|track| sources.tracks.view_of(track)),
        slices: found.slices.iter().map(|id| link(sources.profile, sources.tracks, *id)).collect(),
        omitted: found.omitted,
    }
}
