//! Finds a critical path a part at a time.

use super::path::CriticalPath;
use super::scan::{Scan, TraceScan};
use super::walk::{Rules, Walk};
use crate::work::Works;
use ns_base::{Interval, StrId, TraceNs};
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;

/// About how many slices a step of the walk looks at: it searches several tracks.
const SLICES_PER_TURN: usize = 64;

/// Finds a critical path a part at a time: first a scan of every slice, then the walk back from the last.
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
    Walk(TraceScan, Walk),
}

impl CriticalPass {
    /// Prepares the pass: the path within a span of a profile, or in the whole profile.
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

    /// Looks at about `limit` slices more. Returns whether the path is complete.
    pub fn advance(&mut self, profile: &Profile, works: &Works, flows: &FlowIndex, limit: usize) -> bool {
        let rules = Rules { profile, works, span: self.span, annotation: self.annotation };
        match &mut self.stage {
            Stage::Scan(scan) => {
                if scan.advance(&rules, limit) {
                    let scanned = std::mem::replace(scan, Scan::new(&Profile::default())).finish();
                    let walk = Walk::from_last(&rules, &scanned);
                    self.stage = Stage::Walk(scanned, walk);
                }
                false
            }
            Stage::Walk(scanned, walk) => walk.advance(&rules, scanned, flows, (limit / SLICES_PER_TURN).max(1)),
        }
    }

    /// How much of how much is done: slices scanned, and then nanoseconds of the span walked along.
    pub fn progress(&self) -> (u64, u64) {
        match &self.stage {
            Stage::Scan(scan) => (self.slices.saturating_sub(scan.remaining()), self.slices),
            Stage::Walk(_, walk) => {
                let whole = self.span.end.0.saturating_sub(self.span.start.0).max(0).unsigned_abs();
                let left = walk.now().0.saturating_sub(self.span.start.0).max(0).unsigned_abs();
                (whole.saturating_sub(left), whole)
            }
        }
    }

    /// The path; the part found so far if it is not complete. Empty without closed slices.
    pub fn finish(self) -> CriticalPath {
        match self.stage {
            Stage::Scan(_) => CriticalPath::default(),
            Stage::Walk(_, walk) => walk.into_path(),
        }
    }
}
