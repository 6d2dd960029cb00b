//! Sentences about a profile, and slices of one thread by time, with links to their subjects.

use serde::{Deserialize, Serialize};

use super::listing::Sources;
use crate::timeline::link;
use ns_analysis::in_order::InOrder;
use ns_analysis::sentences::{Figure, Sentence, Topic};
use ns_base::{Interval, TraceNs};
use ns_view::timeline::{SliceLink, TrackId};

/// A sentence, its numbers, and links to the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkedSentence {
    pub topic: Topic,
    pub text: String,
    /// The numbers in it.
    pub figures: Vec<Figure>,
    /// Slices that show it.
    pub links: Vec<SliceLink>,
    /// Spans that show it.
    pub spans: Vec<Interval<TraceNs>>,
}

/// The main facts about a profile.
pub(super) fn linked_sentences(sources: &Sources<'_>, found: Vec<Sentence>) -> Vec<LinkedSentence> {
    // What limits a core is known from its units, better than from the rows of the timeline.
    let limiter = sources.insights.and_then(|i| i.limiter.sentence());
    let linked = found.into_iter().map(|s| LinkedSentence {
        topic: s.topic,
        text: limiter.clone().filter(|_| s.topic == Topic::Verdict).unwrap_or(s.text),
        figures: s.figures,
        links: s.slices.into_iter().map(|id| link(sources.profile, sources.tracks, id)).collect(),
        spans: s.spans,
    });
    linked.collect()
}

/// The longest slices of a thread, by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkedSlices {
    /// The track that shows the thread; absent when no slice was selected.
    pub track: Option<TrackId>,
    /// Slices by start, outer ones before inner ones.
    pub slices: Vec<SliceLink>,
    /// Number of shorter slices that are left out.
    pub omitted: u64,
}

/// The same sentence with links.
pub(super) fn linked_in_order(sources: &Sources<'_>, found: &InOrder) -> LinkedSlices {
    LinkedSlices {
        track: found.track.map(|track| sources.tracks.view_of(track)),
        slices: found.slices.iter().map(|id| link(sources.profile, sources.tracks, *id)).collect(),
        omitted: found.omitted,
    }
}
