//! Sentences about a profile, with links.

use serde::{Deserialize, Serialize};

use super::listing::Sources;
use crate::analysis::sentences::{Figure, Sentence, Topic};
use crate::base::{Interval, TraceNs};
use crate::session::timeline::link;
use crate::view::timeline::SliceLink;

/// A sentence, the numbers in it, and where to look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// What it is about.
    pub topic: Topic,
    /// The sentence.
    pub text: String,
    /// The numbers in it.
    pub figures: Vec<Figure>,
    /// Slices that show it.
    pub links: Vec<SliceLink>,
    /// Spans that show it.
    pub spans: Vec<Interval<TraceNs>>,
}

/// What dominates a profile.
pub(super) fn said(sources: &Sources<'_>, found: Vec<Sentence>) -> Vec<Said> {
    let shown = found.into_iter().map(|s| Said {
        topic: s.topic,
        text: s.text,
        figures: s.figures,
        links: s.slices.into_iter().map(|id| link(sources.profile, sources.tracks, id)).collect(),
        spans: s.spans,
    });
    shown.collect()
}
