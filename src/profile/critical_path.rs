//! The critical path: what the end of a profile waited for, walked backwards.
//!
//! The walk begins at the end of the slice that ends last. It goes back along the innermost slice that runs; at the start of
//! a slice that a flow arrow leads to, it changes to where the arrow came from. Where nothing runs on the track, it changes
//! to the slice that ended last anywhere, and the time between is waiting. The steps cover the walk without gap or overlap.

use super::flows::{FlowIndex, first_starting, running_at};
use super::idle::EndedLast;
use super::{Profile, SliceId};
use crate::base::{Interval, TraceNs};

/// How the path came from a step to the one before it in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// On the same track.
    Track,
    /// Along a flow arrow.
    Flow,
    /// To what ended last.
    EndedLast,
}

/// A stretch of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The slice; absent while the path waits.
    pub slice: Option<SliceId>,
    /// The stretch.
    pub time: Interval<TraceNs>,
    /// How the path gets from the step before in time to this one.
    pub from: Edge,
}

/// Longer paths are cut at their beginning.
const MOST_STEPS: usize = 1 << 18;

/// The steps of the critical path, first to last; empty for a profile without slices.
#[must_use]
pub fn critical_path(profile: &Profile, flows: &FlowIndex) -> Vec<Step> {
    let slices = profile.slices();
    let ended = EndedLast::new(profile);
    let mut steps = Vec::new();
    let Some(last) = ended.at(TraceNs(i64::MAX)) else { return steps };
    let (mut track, mut t) = (slices.track(last), slices.end(last));
    while steps.len() < MOST_STEPS {
        let just_before = TraceNs(t.0.saturating_sub(1));
        let running = running_at(profile, track, just_before).filter(|id| slices.end(*id) >= t);
        let Some(slice) = running else {
            // Nothing runs here: wait for what ended last.
            let Some(before) = ended.at(just_before).or_else(|| ended.at(t).filter(|id| slices.track(*id) != track))
            else {
                break;
            };
            let end = slices.end(before);
            if end < t {
                steps.push(Step { slice: None, time: Interval::new(end, t), from: Edge::EndedLast });
            }
            (track, t) = (slices.track(before), end);
            continue;
        };
        let begin = last_child_end(profile, slice, t).unwrap_or_else(|| slices.start(slice));
        let by_flow = (begin == slices.start(slice)).then(|| arrow_into(profile, flows, slice, begin)).flatten();
        let from = if by_flow.is_some() { Edge::Flow } else { Edge::Track };
        if begin >= t {
            break;
        }
        steps.push(Step { slice: Some(slice), time: Interval::new(begin, t), from });
        t = begin;
        if let Some(source) = by_flow {
            let end = slices.end(source).min(begin);
            if end < begin {
                steps.push(Step { slice: None, time: Interval::new(end, begin), from: Edge::Flow });
            }
            (track, t) = (slices.track(source), end);
        }
    }
    steps.reverse();
    steps
}

/// What led to a slice by an arrow and began before it; of several what ended last.
fn arrow_into(profile: &Profile, flows: &FlowIndex, slice: SliceId, begin: TraceNs) -> Option<SliceId> {
    let slices = profile.slices();
    flows.predecessors(slice).filter(|id| slices.start(*id) < begin).max_by_key(|id| slices.end(*id))
}

/// The end of the child that ended last before a time, in a slice that runs then.
fn last_child_end(profile: &Profile, slice: SliceId, t: TraceNs) -> Option<TraceNs> {
    let slices = profile.slices();
    let track = slices.track(slice);
    let after = first_starting(profile, track, t);
    let own = slice.0 as usize;
    // From the one that starts last: the first whose parent chain reaches the slice is in its last child.
    let mut at = after.checked_sub(1)?;
    while at > own {
        let mut child = SliceId(u32::try_from(at).ok()?);
        while let Some(parent) = slices.stack_parent(child) {
            if parent == slice {
                let end = slices.end(child);
                return (slices.dur_ns(child) > 0).then_some(end.min(t));
            }
            child = parent;
        }
        at -= 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder};

    #[test]
    fn the_path_follows_arrows_nesting_and_what_ended_last() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (cpu, gpu, io) = (b.thread(p, "1", "cpu"), b.thread(p, "2", "gpu"), b.thread(p, "3", "io"));
        b.slice(io, 0, 20, "read", "", None);
        b.slice(cpu, 25, 40, "step", "", None);
        b.slice(cpu, 30, 10, "launch", "", None);
        b.slice(gpu, 45, 50, "kernel", "", None);
        for (track, ts_ns, phase) in [(cpu, 31, b's'), (gpu, 45, b'f')] {
            let (name, category, id) = (b.intern("f"), b.intern("c"), LinkValue::Number(1));
            b.link(LinkEvent { track, ts_ns, phase, name, category, args: ArgsId::NONE, id, binds_enclosing: true });
        }
        let profile = b.finish(Diagnostics::new());
        let steps = critical_path(&profile, &FlowIndex::new(&profile));
        let brief: Vec<_> = steps
            .iter()
            .map(|s| (s.slice.map(|id| profile.str(profile.slices().name(id))), s.time.start.0, s.time.end.0))
            .collect();
        assert_eq!(
            brief,
            [
                (Some("read"), 0, 20),
                (None, 20, 25),
                (Some("step"), 25, 30),
                (Some("launch"), 30, 40),
                (None, 40, 45),
                (Some("kernel"), 45, 95),
            ]
        );
        assert!(steps.windows(2).all(|w| w[0].time.end == w[1].time.start));
        assert!(critical_path(&Profile::default(), &FlowIndex::default()).is_empty());
    }
}
