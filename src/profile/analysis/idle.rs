//! When nothing ran, and what was waited for.
//!
//! A gap is the time between two slices of a row group (a device, or a thread) with nothing of it running. What was waited
//! for is told by what ends the gap: the arrow that leads to the slice after it says who started that; and by what ran
//! elsewhere meanwhile.

use serde::{Deserialize, Serialize};

use super::grouping::{device_text, thread_text};
use super::work::{Family, Work, Works};
use crate::base::{FxHashMap, IndexVec, Interval, StrId, TraceNs};
use crate::profile::flows::{FlowIndex, first_starting, running_at};
use crate::profile::{Profile, SliceFlags, SliceId, TrackId};

/// A stretch in which nothing of a row group ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleGap {
    /// The device, or the process and thread.
    pub of: String,
    /// When.
    pub span: Interval<TraceNs>,
    /// What ran until then.
    pub before: SliceId,
    /// What ran next.
    pub after: SliceId,
    /// What started [`Self::after`] by an arrow; absent when no arrow says so.
    pub started_by: Option<SliceId>,
    /// Whether that began after the gap did: then nothing was ready to run before. When it began earlier, the work was
    /// already handed over and waited for something else.
    pub was_late: bool,
    /// What another thread did most in the gap (by self time), and for how long: the thread that started what came next if
    /// that is known, else the busiest.
    pub meanwhile: Option<Meanwhile>,
}

/// What another thread did in a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meanwhile {
    /// Name of the slices.
    pub name: String,
    /// Process and thread.
    pub thread: String,
    /// Their self time in the gap, in ns.
    pub self_ns: i64,
    /// The slice among them with the most of it.
    pub longest: SliceId,
}

/// Gaps of a profile, longest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleGaps {
    /// The longest.
    pub gaps: Vec<IdleGap>,
    /// Number of gaps in all.
    pub total: u64,
    /// Their length together, in ns.
    pub idle_ns: i64,
}

/// A gap between two slices, not yet looked into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub group: usize,
    pub span: Interval<TraceNs>,
    pub before: SliceId,
    pub after: SliceId,
}

/// Tracks whose slices together keep something busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowGroup {
    pub label: String,
    pub tracks: Vec<TrackId>,
}

/// The `limit` longest gaps: of each device where the profile knows devices, else of each thread. Only those that share an
/// instant with `within`; they are not cut.
#[must_use]
pub fn idle_gaps(
    profile: &Profile,
    works: &Works,
    flows: &FlowIndex,
    within: Option<Interval<TraceNs>>,
    limit: usize,
) -> IdleGaps {
    let groups = row_groups(profile, works);
    let mut gaps: Vec<Gap> =
        groups.iter().enumerate().flat_map(|(i, g)| gaps_of(profile, works, i, &g.tracks)).collect();
    gaps.retain(|g| within.is_none_or(|span| g.span.overlaps(&span)));
    gaps.sort_by_key(|g| (g.span.start.0 - g.span.end.0, g.span.start, g.group));
    let idle_ns = gaps.iter().map(|g| g.span.end.0 - g.span.start.0).fold(0, i64::saturating_add);
    let total = gaps.len() as u64;
    gaps.truncate(limit);
    let look = |g: &Gap| look_into(profile, works, flows, &groups[g.group], g);
    IdleGaps { gaps: gaps.iter().map(look).collect(), total, idle_ns }
}

/// Devices of a profile with the tracks that do their work; threads where no devices are known.
pub(super) fn row_groups(profile: &Profile, works: &Works) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = Vec::new();
    for track in profile.tracks().ids().filter(|t| !profile.slices().range_of(*t).is_empty()) {
        let label = if works.family() == Family::Other {
            thread_text(profile, track)
        } else if has_device_work(profile, works, track) {
            device_text(profile, profile.tracks()[track].process)
        } else {
            continue;
        };
        match groups.iter_mut().find(|g| g.label == label) {
            Some(group) => group.tracks.push(track),
            None => groups.push(RowGroup { label, tracks: vec![track] }),
        }
    }
    groups
}

fn has_device_work(profile: &Profile, works: &Works, track: TrackId) -> bool {
    let mut slices = profile.slices().of_track(track);
    slices.any(|id| works.of_slice(profile, track, id).is_some_and(Work::is_device))
}

/// Whether a slice keeps its row group busy.
fn counts(profile: &Profile, works: &Works, track: TrackId, id: SliceId) -> bool {
    if profile.slices().flags(id).has(SliceFlags::UNCLOSED) {
        return false;
    }
    works.family() == Family::Other || works.of_slice(profile, track, id).is_some_and(Work::is_device)
}

/// The stretches between slices of some tracks in which none runs, by time.
pub(super) fn gaps_of(profile: &Profile, works: &Works, group: usize, tracks: &[TrackId]) -> Vec<Gap> {
    let slices = profile.slices();
    let mut busy: Vec<(TraceNs, SliceId)> = Vec::new();
    for &track in tracks {
        busy.extend(
            slices.of_track(track).filter(|&id| counts(profile, works, track, id)).map(|id| (slices.start(id), id)),
        );
    }
    busy.sort_unstable();
    let mut gaps = Vec::new();
    let mut last: Option<(TraceNs, SliceId)> = None;
    for (start, id) in busy {
        let end = slices.end(id);
        if let Some((until, before)) = last
            && start > until
        {
            gaps.push(Gap { group, span: Interval::new(until, start), before, after: id });
        }
        if last.is_none_or(|(until, _)| end > until) {
            last = Some((end, id));
        }
    }
    gaps
}

fn look_into(profile: &Profile, works: &Works, flows: &FlowIndex, group: &RowGroup, gap: &Gap) -> IdleGap {
    let slices = profile.slices();
    let started_by = flows.predecessors(gap.after).min_by_key(|p| slices.start(*p));
    let elsewhere: Vec<TrackId> = match started_by {
        Some(by) => vec![slices.track(by)],
        None => profile.tracks().ids().filter(|t| !group.tracks.contains(t)).collect(),
    };
    let busiest = elsewhere.iter().filter_map(|&t| meanwhile(profile, works, t, gap.span)).max_by_key(|m| m.self_ns);
    IdleGap {
        of: group.label.clone(),
        span: gap.span,
        before: gap.before,
        after: gap.after,
        started_by,
        was_late: started_by.is_some_and(|by| slices.start(by) >= gap.span.start),
        meanwhile: busiest,
    }
}

/// What a thread did most in a span, by self time; markers do nothing, nor do rows that show the work of others once more.
fn meanwhile(profile: &Profile, works: &Works, track: TrackId, span: Interval<TraceNs>) -> Option<Meanwhile> {
    let slices = profile.slices();
    let mut by_name: FxHashMap<StrId, (i64, i64, SliceId)> = FxHashMap::default();
    let rows_are_known = matches!(works.family(), Family::Neuron | Family::Xla);
    let is_work = |id| match works.of_slice(profile, track, id) {
        None => !rows_are_known,
        Some(work) => work != Work::Marker,
    };
    for (id, own) in self_times_in(profile, track, span) {
        if own > 0 && is_work(id) {
            let entry = by_name.entry(slices.name(id)).or_insert((0, 0, id));
            entry.0 += own;
            if own > entry.1 {
                (entry.1, entry.2) = (own, id);
            }
        }
    }
    let most = by_name.into_iter().max_by_key(|(name, (own, _, _))| (*own, std::cmp::Reverse(*name)));
    most.map(|(name, (self_ns, _, longest))| Meanwhile {
        name: profile.str(name).to_owned(),
        thread: thread_text(profile, track),
        self_ns,
        longest,
    })
}

/// The slices of a track that share an instant with a span, with their self time in it. Costs the slices in the span, and
/// the depth of the stack at its start.
pub(super) fn self_times_in(profile: &Profile, track: TrackId, span: Interval<TraceNs>) -> Vec<(SliceId, i64)> {
    let slices = profile.slices();
    let mut found: Vec<SliceId> =
        std::iter::successors(running_at(profile, track, span.start), |id| slices.stack_parent(*id)).collect();
    found.reverse();
    found.retain(|id| slices.start(*id) < span.start);
    let starting = first_starting(profile, track, span.start)..first_starting(profile, track, span.end);
    found.extend(starting.map(|i| SliceId(i as u32)));
    let clip = |from: TraceNs, to: TraceNs| to.min(span.end).0.saturating_sub(from.max(span.start).0).max(0);
    let place: FxHashMap<SliceId, usize> = found.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let mut own: IndexVec<SliceId, i64> = IndexVec::new();
    for &id in &found {
        let closed = !slices.flags(id).has(SliceFlags::UNCLOSED);
        own.push(if closed { clip(slices.start(id), slices.end(id)) } else { 0 });
    }
    for &id in &found {
        let parent = slices.stack_parent(id).and_then(|p| place.get(&p).map(|at| (p, *at)));
        if let Some((parent, at)) = parent {
            own[SliceId(at as u32)] -= clip(slices.start(id), slices.end(id).min(slices.end(parent)));
        }
    }
    found.into_iter().zip(own.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::selection::tests::nested;
    use super::super::{RangeRule, Selection};
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder};
    use proptest::prelude::*;

    #[test]
    fn a_gap_says_who_ended_it_and_what_ran_meanwhile() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        b.set_process_labels(gpu, "GPU 0");
        let (t, k) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"));
        b.slice(t, 0, 300, "step", "user_annotation", None);
        b.slice(t, 5, 5, "cudaLaunchKernel", "cuda_runtime", None);
        b.slice(t, 30, 150, "load data", "cpu_op", None);
        b.slice(t, 190, 5, "cudaLaunchKernel", "cuda_runtime", None);
        b.slice(k, 20, 30, "gemm", "kernel", None);
        b.slice(k, 50, 10, "Memcpy", "gpu_memcpy", None);
        b.slice(k, 200, 20, "gemm", "kernel", None);
        let (name, category) = (b.intern("ac2g"), b.intern("ac2g"));
        for (track, ts_ns, phase) in [(t, 190, b's'), (k, 200, b'f')] {
            let (id, args) = (LinkValue::Number(1), ArgsId::NONE);
            b.link(LinkEvent { track, ts_ns, phase, name, category, args, id, binds_enclosing: true });
        }
        let profile = b.finish(Diagnostics::new());
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let found = idle_gaps(&profile, &works, &flows, None, 10);
        assert_eq!((found.total, found.idle_ns, found.gaps.len()), (1, 140, 1));
        let gap = &found.gaps[0];
        assert_eq!((gap.of.as_str(), gap.span.start.0, gap.span.end.0, gap.was_late), ("GPU 0", 60, 200, true));
        let meanwhile = gap.meanwhile.as_ref().unwrap();
        assert_eq!((meanwhile.name.as_str(), meanwhile.self_ns), ("load data", 120));
        assert_eq!(profile.slices().start(gap.started_by.unwrap()).0, 190);
    }

    proptest! {
        #[test]
        fn self_times_of_a_span_are_those_of_the_whole_clipped(
            steps in prop::collection::vec(any::<(u8, u8)>(), 1..100), from in 0i64..800, len in 1i64..800,
        ) {
            let profile = nested(&steps);
            let span = Interval::new(TraceNs(from), TraceNs(from + len));
            let clip = Selection { within: Some(span), rule: RangeRule::Clip, tracks: None };
            let all = clip.self_times(&profile);
            let found = self_times_in(&profile, TrackId(0), span);
            for &(id, own) in &found {
                prop_assert_eq!(own, all[id.0 as usize]);
            }
            prop_assert_eq!(found.iter().map(|f| f.1).sum::<i64>(), all.iter().sum::<i64>());
        }
    }
}
