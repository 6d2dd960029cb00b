//! A critical path: its parts, and the time of each name on it.

use serde::{Deserialize, Serialize};

use super::pass::CriticalPass;
use crate::Names;
use crate::work::Works;
use ns_base::{FxHashMap, Interval, Order, StrId, TraceNs};
use ns_profile::flows::FlowIndex;
use ns_profile::{Profile, SliceId};

/// Why the walk came to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathReason {
    /// The part ends last.
    Last,
    /// The next part follows on the same track.
    Track,
    /// An arrow leads from it to the next one.
    Arrow,
    /// It ran on another thread of the host, or row of a Neuron profile, when the next part started after a pause.
    Thread,
    /// The next one waits for it.
    Wait,
    /// No slice ran: the next part did not start although everything it needed was done.
    Idle,
}

/// A part of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPart {
    /// The slice; absent for a part without one.
    pub slice: Option<SliceId>,
    /// The time in which it held up the next part.
    pub span: Interval<TraceNs>,
    /// How it is joined to the part after it.
    pub cause: PathReason,
}

/// A critical path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalPath {
    /// Parts by time, without gaps.
    pub parts: Vec<PathPart>,
}

/// The time that one name has on a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathShare {
    /// The name; empty for a part without a slice.
    pub name: String,
    /// Its time on the path, in ns.
    pub ns: i64,
    /// Number of parts.
    pub parts: u64,
    /// Its longest part.
    pub longest: Option<SliceId>,
}

impl CriticalPath {
    /// The path within a span of a profile, or in the whole profile without a span. Empty without closed slices.
    #[must_use]
    pub fn of(profile: &Profile, works: &Works, flows: &FlowIndex, within: Option<Interval<TraceNs>>) -> Self {
        let mut pass = CriticalPass::new(profile, within);
        while !pass.advance(profile, works, flows, usize::MAX) {}
        pass.finish()
    }

    /// Its length, in ns.
    pub fn length_ns(&self) -> i64 {
        self.parts.iter().map(|p| p.span.end.0 - p.span.start.0).sum()
    }

    /// The time of each name, longest first, equal times by name.
    pub fn shares(&self, profile: &Profile, names: &Names) -> Vec<PathShare> {
        let mut by_name: FxHashMap<Option<StrId>, PathShare> = FxHashMap::default();
        let mut longest: FxHashMap<Option<StrId>, i64> = FxHashMap::default();
        for part in &self.parts {
            let name = part.slice.map(|id| names.first(profile.slices().name(id)));
            let text = || name.map_or_else(String::new, |n| names.text(profile, n).into_owned());
            let empty = || PathShare { name: text(), ns: 0, parts: 0, longest: None };
            let (share, ns) = (by_name.entry(name).or_insert_with(empty), part.span.end.0 - part.span.start.0);
            share.ns += ns;
            share.parts += 1;
            let most = longest.entry(name).or_insert(-1);
            if ns > *most {
                (*most, share.longest) = (ns, part.slice);
            }
        }
        let mut shares: Vec<_> = by_name.into_values().collect();
        shares.order_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
        shares
    }
}
