//! Times of a profile by kind of work, by name and by track.

use std::collections::BTreeMap;

use crate::compare::grouped_by_default;
use crate::work::{Work, Works};
use crate::{GroupBy, SliceCursor};
use ns_base::{FxHashMap, Idx, IndexVec, Interval, Order, StrId, TraceNs};
use ns_profile::fused::Part;
use ns_profile::{Occurrences, Profile, SliceFlags, SliceId, TrackId};

/// Times of a profile by kind of work.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The window that shares refer to: the marked steps together, else from the first to the last work of devices, or of
    /// the host if no device works. Starting and stopping a profiler, and the host's work before its first step, are outside.
    pub window: Option<Interval<TraceNs>>,
    /// Whether the window is the time of marked steps.
    pub by_steps: bool,
    /// Marked steps in order of time, those of one track.
    pub steps: Vec<(SliceId, Interval<TraceNs>)>,
    /// Covered stretches of each kind, within the window.
    pub covered: FxHashMap<Work, Vec<Interval<TraceNs>>>,
    /// Stretches in which any device works, within the window.
    pub device: Vec<Interval<TraceNs>>,
    /// Self time by name: all slices, those of devices, those of the host.
    pub own: FxHashMap<StrId, Own>,
    pub own_device: FxHashMap<StrId, Own>,
    pub own_host: FxHashMap<StrId, Own>,
    /// Self time of framework operators of a Neuron profile by operator: the name of a fusion has a number.
    pub own_framework: FxHashMap<StrId, Own>,
    /// Self time by name of the instructions of a device that compute.
    pub own_instructions: FxHashMap<StrId, Own>,
    /// For each track how much of it slices cover, in ns.
    pub covered_ns: IndexVec<TrackId, i64>,
}

/// The slices that a list of operations counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SliceSet {
    /// Framework operators of a Neuron profile.
    Framework,
    /// Instructions of a device that compute: without those that wait, and those of the runtime.
    Instructions,
    /// Work of devices.
    Device,
    /// All slices but wrappers.
    All,
}

impl SliceSet {
    /// Calls `visit` with the names under which a slice counts.
    pub fn each_name(
        self,
        profile: &Profile,
        works: &Works,
        track: TrackId,
        id: SliceId,
        mut visit: impl FnMut(StrId),
    ) {
        let (slices, levels) = (profile.slices(), profile.levels());
        if slices.flags(id).has(SliceFlags::UNCLOSED) {
            return;
        }
        let counts = match self {
            Self::Framework => levels.default_level().is_some_and(|l| levels.of_slice(profile, track, id) == l),
            Self::Instructions => works.of_slice(profile, track, id) == Some(Work::Compute),
            Self::Device => works.of_slice(profile, track, id).is_some_and(Work::is_device),
            Self::All => !levels.wraps(profile, track, id),
        };
        match self {
            _ if !counts => {}
            Self::Framework => each_operator(profile, track, id, |operator, _| visit(operator)),
            _ => visit(slices.name(id)),
        }
    }
}

/// Self time of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub ns: i64,
    /// How often it ran ([`Occurrences`]).
    pub count: u64,
    pub longest: SliceId,
    longest_ns: i64,
}

impl Own {
    /// Adds the time of another name of the same operation. The longest slice is the longest of both; in a tie the first.
    pub fn add(&mut self, other: &Self) {
        self.ns = self.ns.saturating_add(other.ns);
        self.count += other.count;
        if (other.longest_ns, std::cmp::Reverse(other.longest)) > (self.longest_ns, std::cmp::Reverse(self.longest)) {
            (self.longest_ns, self.longest) = (other.longest_ns, other.longest);
        }
    }
}

/// Fills a [`Tally`] a part at a time.
#[derive(Debug)]
pub(super) struct TallyPass {
    cursor: SliceCursor,
    occurrences: Occurrences,
    /// Self time of every slice.
    own: Vec<i64>,
    /// Stretches of each kind of work, not merged yet.
    spans: FxHashMap<Work, Vec<Interval<TraceNs>>>,
    /// For each track the time up to which slices cover it.
    until: IndexVec<TrackId, i64>,
    /// From the first to the last marked step, and from the first to the last work of devices.
    steps: Option<Interval<TraceNs>>,
    device: Option<Interval<TraceNs>>,
    /// Marked steps of each track.
    marked: BTreeMap<TrackId, Vec<(SliceId, Interval<TraceNs>)>>,
    /// From the first to the last work of any kind.
    work: Option<Interval<TraceNs>>,
    tally: Tally,
}

impl TallyPass {
    /// Prepares the tally with the self time of every slice.
    pub fn new(profile: &Profile, own: Vec<i64>) -> Self {
        let tracks = || profile.tracks().ids();
        Self {
            cursor: SliceCursor::of_all(profile),
            occurrences: Occurrences::of(profile),
            own,
            spans: FxHashMap::default(),
            until: tracks().map(|_| i64::MIN).collect(),
            steps: None,
            device: None,
            marked: BTreeMap::new(),
            work: None,
            tally: Tally { covered_ns: tracks().map(|_| 0).collect(), ..Tally::default() },
        }
    }

    /// Number of slices not looked at yet.
    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, works: &Works, limit: usize) -> bool {
        let (slices, levels) = (profile.slices(), profile.levels());
        let framework = levels.default_level().filter(|_| grouped_by_default(profile) == GroupBy::CategoryOrName);
        let Self { cursor, occurrences, own, spans, until, steps, device, marked, work: all, tally } = self;
        cursor.advance(limit, |track, id| {
            if slices.flags(id).has(SliceFlags::UNCLOSED) {
                return;
            }
            let time = slices.interval(id);
            let of = Counted { id, ns: own[id.index()], count: occurrences.count(profile, id) };
            let name = slices.name(id);
            // Wrappers never come first in a list.
            let wraps = profile.levels().wraps(profile, track, id);
            if !wraps {
                add(&mut tally.own, name, of);
            }
            if framework.is_some_and(|level| levels.of_slice(profile, track, id) == level) {
                // Members of one operator are one occurrence of it.
                let mut seen: Vec<StrId> = Vec::new();
                each_operator(profile, track, id, |operator, part| {
                    let count = if seen.contains(&operator) { 0 } else { of.count };
                    seen.push(operator);
                    add(&mut tally.own_framework, operator, Counted { ns: part.of_ns(of.ns), count, ..of });
                });
            }
            let busy = (until.get_mut(track), tally.covered_ns.get_mut(track));
            if let (Some(until), Some(covered), false) = (busy.0, busy.1, wraps) {
                *covered += time.end.0.saturating_sub(time.start.0.max(*until)).max(0);
                *until = time.end.0.max(*until);
            }
            if works.marks_step(profile, track, id) {
                widen(steps, time);
                marked.entry(track).or_default().push((id, time));
            }
            let Some(work) = works.of_slice(profile, track, id).filter(|w| *w != Work::Marker) else { return };
            match work {
                Work::Host if !wraps => add(&mut tally.own_host, name, of),
                work if work.is_device() => add(&mut tally.own_device, name, of),
                _ => {}
            }
            if work == Work::Compute && works.device().is_some() {
                add(&mut tally.own_instructions, name, of);
            }
            let spans = spans.entry(work).or_default();
            // Slices come by start within a track: most join the interval before.
            match spans.last_mut() {
                Some(last) if last.start <= time.start && time.start <= last.end => last.end = last.end.max(time.end),
                _ => spans.push(time),
            }
            widen(all, time);
            if work.is_device() {
                widen(device, time);
            }
        })
    }

    /// The times.
    pub fn finish(self) -> Tally {
        let mut tally = self.tally;
        // Steps of a host without device work in them are ignored.
        let steps = self.steps.filter(|s| self.device.is_some_and(|d| d.overlaps(s)));
        (tally.window, tally.by_steps) = (steps.or(self.device).or(self.work), steps.is_some());
        // The host and each device may mark the same steps: take the track with the most steps, and in a tie the first.
        let most = self.marked.into_values().rev().max_by_key(Vec::len);
        tally.steps = most.unwrap_or_default();
        tally.steps.order_by_key(|(id, time)| (time.start, *id));
        let Some(window) = tally.window else { return tally };
        let covered = |(work, spans)| (work, inside(Interval::merge(spans), window));
        tally.covered = self.spans.into_iter().map(covered).collect();
        let device = tally.covered.iter().filter(|(work, _)| work.is_device()).flat_map(|(_, s)| s.iter().copied());
        tally.device = Interval::merge(device.collect());
        tally
    }
}

impl Tally {
    /// Self time by name of the slices that a list counts.
    pub const fn own_of(&self, counted: SliceSet) -> &FxHashMap<StrId, Own> {
        match counted {
            SliceSet::Framework => &self.own_framework,
            SliceSet::Instructions => &self.own_instructions,
            SliceSet::Device => &self.own_device,
            SliceSet::All => &self.own,
        }
    }

    /// Time covered by a kind of work, in ns.
    pub fn ns(&self, work: Work) -> i64 {
        self.covered.get(&work).map_or(0, |spans| Interval::total_ns(spans))
    }
}

/// Calls `visit` with each operator of a row of framework operators that a slice counts for, and its part of the time.
fn each_operator(profile: &Profile, track: TrackId, id: SliceId, mut visit: impl FnMut(StrId, Part)) {
    let slices = profile.slices();
    let members = profile.fusions().members(slices.args(id));
    let names = profile.names_of(track);
    members.iter().for_each(|member| visit(member.category(names), member.part));
    if members.is_empty() {
        let category = slices.category(id);
        visit(if category == StrId::EMPTY { slices.name(id) } else { category }, Part::WHOLE);
    }
}

/// What a slice adds to a name.
#[derive(Clone, Copy)]
struct Counted {
    id: SliceId,
    ns: i64,
    count: u64,
}

fn add(own: &mut FxHashMap<StrId, Own>, name: StrId, of: Counted) {
    let new = Own { ns: 0, count: 0, longest: of.id, longest_ns: i64::MIN };
    let entry = own.entry(name).or_insert(new);
    entry.ns += of.ns;
    entry.count += of.count;
    if of.ns > entry.longest_ns {
        (entry.longest_ns, entry.longest) = (of.ns, of.id);
    }
}

fn widen(all: &mut Option<Interval<TraceNs>>, time: Interval<TraceNs>) {
    let all = all.get_or_insert(time);
    *all = Interval::new(all.start.min(time.start), all.end.max(time.end));
}

/// The parts of disjoint intervals that are inside a window.
fn inside(spans: Vec<Interval<TraceNs>>, window: Interval<TraceNs>) -> Vec<Interval<TraceNs>> {
    let clip = |s: Interval<TraceNs>| Interval::new(s.start.max(window.start), s.end.min(window.end));
    spans.into_iter().filter(|s| s.overlaps(&window)).map(clip).collect()
}

/// Length of the intersection of two sorted lists of disjoint intervals.
pub(super) fn shared(a: &[Interval<TraceNs>], b: &[Interval<TraceNs>]) -> i64 {
    let (mut i, mut j, mut ns) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        ns += (x.end.min(y.end).0 - x.start.max(y.start).0).max(0);
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_share_what_both_hold() {
        let spans =
            |s: &[(i64, i64)]| s.iter().map(|&(a, b)| Interval::new(TraceNs(a), TraceNs(b))).collect::<Vec<_>>();
        assert_eq!(shared(&spans(&[(0, 10), (20, 30)]), &spans(&[(5, 25), (28, 40)])), 5 + 5 + 2);
    }
}
