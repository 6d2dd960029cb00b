//! Finds a critical path a part at a time.

use super::path::CriticalPath;
use super::scan::{Scan, Scanned};
use super::walk::{Rules, Walk};
use crate::analysis::work::Works;
use crate::base::{Interval, StrId, TraceNs};
use crate::profile::Profile;
use crate::profile::flows::FlowIndex;

/// A turn of the walk looks at so many slices, about: it searches several tracks.
const SLICES_PER_TURN: usize = 64;

/// Finds a critical path a part at a time: first a look at every slice, then the walk back from the last.
#[derive(Debug)]
pub struct CriticalPass {
    span: Interval<TraceNs>,
    /// Category of annotations.
    annotation: Option<StrId>,
    slices: u64,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Scan(Scan),
    Walk(Scanned, Walk),
}

impl CriticalPass {
    /// Prepares it: the path within a span of a profile, or of all of it.
    #[must_use]
    pub fn new(profile: &Profile, within: Option<Interval<TraceNs>>) -> Self {
        let all = || Interval::new(profile.span().start, TraceNs(profile.span().end.0.saturating_add(1)));
        Self {
            span: within.unwrap_or_else(all),
            annotation: profile.strings().lookup("user_annotation"),
            slices: profile.slices().len() as u64,
            stage: Stage::Scan(Scan::new(profile)),
        }
    }

    /// Looks at about `limit` slices more. Returns whether the path is whole.
    pub fn advance(&mut self, profile: &Profile, works: &Works, flows: &FlowIndex, limit: usize) -> bool {
        let rules = Rules { profile, works, span: self.span, annotation: self.annotation };
        match &mut self.stage {
            Stage::Scan(scan) => {
                if scan.advance(&rules, limit) {
                    let scanned = std::mem::replace(scan, Scan::new(&Profile::default())).finish();
                    let walk = Walk::from_last(&rules, scanned.last);
                    self.stage = Stage::Walk(scanned, walk);
                }
                false
            }
            Stage::Walk(scanned, walk) => walk.advance(&rules, scanned, flows, (limit / SLICES_PER_TURN).max(1)),
        }
    }

    /// How much is done, and of how much: slices looked at, and then nanoseconds of the span walked along.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        match &self.stage {
            Stage::Scan(scan) => (self.slices.saturating_sub(scan.left()), self.slices),
            Stage::Walk(_, walk) => {
                let whole = self.span.end.0.saturating_sub(self.span.start.0).max(0).unsigned_abs();
                let left = walk.now().0.saturating_sub(self.span.start.0).max(0).unsigned_abs();
                (whole.saturating_sub(left), whole)
            }
        }
    }

    /// The path; what of it was found when it is not whole. Empty without closed slices.
    #[must_use]
    pub fn finish(self) -> CriticalPath {
        match self.stage {
            Stage::Scan(_) => CriticalPath::default(),
            Stage::Walk(_, walk) => walk.into_path(),
        }
    }
}
