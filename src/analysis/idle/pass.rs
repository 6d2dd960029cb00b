//! Finds idle gaps a part at a time.

use super::gaps::{DeviceScan, Gap, GapWalk, RowGroup};
use super::meanwhile::meanwhile;
use super::{IdleGap, IdleGaps, Meanwhile};
use crate::work::Works;
use ns_base::{Interval, Order, TraceNs};
use ns_profile::flows::{FlowIndex, first_starting};
use ns_profile::{Profile, SliceId, TrackId};

/// Number of gaps kept in addition to the longest before the others are dropped: sorting more often would cost more.
const SPARE_GAPS: usize = 4096;

/// Finds idle gaps a part at a time: first the tracks of devices, then the times in which none of them ran, then what ran
/// elsewhere during the longest gaps.
#[derive(Debug)]
pub struct IdlePass {
    within: Option<Interval<TraceNs>>,
    limit: usize,
    slices: u64,
    seen: u64,
    groups: Vec<RowGroup>,
    /// The longest so far, and some more.
    kept: Vec<Gap>,
    found: IdleGaps,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Devices(DeviceScan),
    Gaps(GapWalk, usize),
    Look(Option<Look>),
}

/// A gap being explained.
#[derive(Debug)]
struct Look {
    gap: Gap,
    started_by: Option<SliceId>,
    /// Tracks that were not looked at yet, the next at the end.
    elsewhere: Vec<TrackId>,
    /// Whether it tells more than that the thread waits or runs, and the call.
    busiest: Option<(bool, Meanwhile)>,
}

impl IdlePass {
    /// Prepares the pass: the `limit` longest gaps among those that share an instant with a span, or among all.
    #[must_use]
    pub fn new(profile: &Profile, within: Option<Interval<TraceNs>>, limit: usize) -> Self {
        Self {
            within,
            limit,
            slices: profile.slices().len() as u64,
            seen: 0,
            groups: Vec::new(),
            kept: Vec::new(),
            found: IdleGaps::default(),
            stage: Stage::Devices(DeviceScan::new(profile)),
        }
    }

    /// Looks at about `limit` slices more. Returns whether all gaps are found and explained.
    pub fn advance(&mut self, profile: &Profile, works: &Works, flows: &FlowIndex, limit: usize) -> bool {
        match &mut self.stage {
            Stage::Devices(scan) => {
                if scan.advance(profile, works, limit) {
                    self.groups = scan.groups(profile, works);
                    self.stage = Stage::Gaps(GapWalk::default(), 0);
                }
                false
            }
            Stage::Gaps(..) => {
                self.walk(profile, works, limit);
                false
            }
            Stage::Look(_) => self.look(profile, works, flows, limit),
        }
    }

    /// How much of how much is done: slices for the gaps, then the explained gaps.
    pub fn progress(&self) -> (u64, u64) {
        match &self.stage {
            Stage::Devices(scan) => (self.slices.saturating_sub(scan.remaining()), self.slices.saturating_mul(2)),
            Stage::Gaps(..) => (self.slices.saturating_add(self.seen), self.slices.saturating_mul(2)),
            Stage::Look(_) => {
                let done = self.found.gaps.len() as u64;
                (done, done + self.kept.len() as u64 + 1)
            }
        }
    }

    /// The gaps.
    pub fn finish(self) -> IdleGaps {
        self.found
    }

    /// Continues along the slices of one group, or with the next group.
    fn walk(&mut self, profile: &Profile, works: &Works, limit: usize) {
        let Self { groups, within, kept, found, seen, .. } = self;
        let Stage::Gaps(walk, next) = &mut self.stage else { return };
        let looked_at = walk.advance(profile, works, limit, |gap| {
            if within.is_none_or(|span| gap.span.overlaps(&span)) {
                found.total += 1;
                found.idle_ns = found.idle_ns.saturating_add(gap.length_ns());
                kept.push(gap);
            }
        });
        *seen = seen.saturating_add(looked_at as u64);
        if looked_at >= limit {
            self.keep_longest(SPARE_GAPS);
            return;
        }
        if let Some(group) = groups.get(*next) {
            *walk = GapWalk::new(profile, *next, &group.tracks);
            *next += 1;
            return;
        }
        self.keep_longest(0);
        // The longest gap is explained first: it is taken from the end.
        self.kept.reverse();
        self.stage = Stage::Look(None);
    }

    /// Drops all but the longest, once there are more than `spare` others.
    fn keep_longest(&mut self, spare: usize) {
        if spare > 0 && self.kept.len() <= self.limit.saturating_add(spare) {
            return;
        }
        self.kept.order_by_key(|g| (-g.length_ns(), g.span.start, g.group));
        self.kept.truncate(self.limit);
    }

    /// Explains gaps until about `limit` slices were seen. Returns whether none is left.
    fn look(&mut self, profile: &Profile, works: &Works, flows: &FlowIndex, limit: usize) -> bool {
        let Self { groups, kept, found, stage, .. } = self;
        let Stage::Look(current) = stage else { return true };
        let mut seen = 0;
        while seen < limit {
            if current.is_none() {
                *current = kept.pop().map(|gap| Look::new(profile, flows, &groups[gap.group], gap));
            }
            let Some(look) = current else { return true };
            match look.elsewhere.pop() {
                Some(track) => {
                    let span = look.gap.span;
                    let last = first_starting(profile, track, span.end);
                    seen += 1 + last.saturating_sub(first_starting(profile, track, span.start));
                    look.add(meanwhile(profile, works, track, span));
                }
                None => {
                    let of = groups[look.gap.group].label.clone();
                    found.gaps.extend(current.take().map(|look| look.finish(profile, of)));
                }
            }
        }
        false
    }
}

impl Look {
    fn new(profile: &Profile, flows: &FlowIndex, group: &RowGroup, gap: Gap) -> Self {
        let slices = profile.slices();
        let started_by = flows.predecessors(gap.after).min_by_key(|p| slices.start(*p));
        let elsewhere = match started_by {
            Some(by) => vec![slices.track(by)],
            None => {
                let mut others: Vec<_> = profile.tracks().ids().filter(|t| !group.tracks.contains(t)).collect();
                others.reverse();
                others
            }
        };
        Self { gap, started_by, elsewhere, busiest: None }
    }

    /// Of equally busy threads the last counts.
    fn add(&mut self, other: Option<(bool, Meanwhile)>) {
        let most = self.busiest.as_ref().map_or((false, i64::MIN), |(tells, m)| (*tells, m.ns));
        if let Some(other) = other.filter(|(tells, m)| (*tells, m.ns) >= most) {
            self.busiest = Some(other);
        }
    }

    fn finish(self, profile: &Profile, of: String) -> IdleGap {
        let Gap { span, before, after, .. } = self.gap;
        let started_by = self.started_by;
        let was_late = started_by.is_some_and(|by| profile.slices().start(by) >= span.start);
        IdleGap { of, span, before, after, started_by, was_late, meanwhile: self.busiest.map(|(_, m)| m) }
    }
}
