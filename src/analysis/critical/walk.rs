//! The walk back along a critical path, step by step.

use super::path::{CriticalPath, PathPart, PathReason};
use super::scan::{BLOCK, TraceScan};
use super::threads::CriticalThreads;
use crate::work::{Work, Works};
use ns_base::{Idx, Interval, StrId, TraceNs};
use ns_profile::flows::{FlowIndex, first_starting};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// The most slices that are searched backwards for one that ended: bounds the work where thousands overlap.
pub(super) const MOST_LOOKED_BACK: usize = 1024;

/// The slices that count, and their span.
pub(super) struct Rules<'a> {
    pub profile: &'a Profile,
    pub works: &'a Works,
    pub span: Interval<TraceNs>,
    /// Category of annotations.
    pub annotation: Option<StrId>,
}

impl Rules<'_> {
    /// Whether a slice can be on the path: it has an end and is not a mere marker.
    pub fn is_counted(&self, id: SliceId, work: Option<Work>) -> bool {
        let slices = self.profile.slices();
        if slices.flags(id).has(SliceFlags::UNCLOSED) || Some(slices.category(id)) == self.annotation {
            return false;
        }
        self.works.family() == Family::Other || !matches!(work, None | Some(Work::Marker))
    }

    /// The same of any slice.
    pub fn counts(&self, id: SliceId) -> bool {
        self.is_counted(id, self.works.of_slice(self.profile, self.profile.slices().track(id), id))
    }
}

/// The slice that held up another one, and the time until which it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocker {
    by: SliceId,
    until: TraceNs,
    cause: PathReason,
}

impl Blocker {
    /// The slice that ends last.
    pub const fn last(by: SliceId, until: TraceNs) -> Self {
        Self { by, until, cause: PathReason::Last }
    }
}

/// The walk: the point from which it continues, and the parts it has found, the last in time first.
#[derive(Debug)]
pub(super) struct Walk {
    at: Option<Blocker>,
    now: TraceNs,
    parts: Vec<PathPart>,
    /// A bound on the steps. Every step moves back in time or to an earlier slice, so the walk ends; this makes sure.
    turns_left: usize,
}

impl Walk {
    /// The walk before its first step, at the work that ends last.
    pub fn from_last(rules: &Rules<'_>, known: &TraceScan) -> Self {
        let last = known.last;
        let turns_left = rules.profile.slices().len().saturating_mul(4).saturating_add(16);
        let at = last.map(|blocker| innermost(rules, known, blocker));
        Self { at, now: last.map_or(rules.span.start, |blocker| blocker.until), parts: Vec::new(), turns_left }
    }

    /// Its position in time.
    pub const fn now(&self) -> TraceNs {
        self.now
    }

    /// Continues for some steps. Returns whether the walk has ended.
    pub fn advance(&mut self, rules: &Rules<'_>, known: &TraceScan, flows: &FlowIndex, turns: usize) -> bool {
        let search = Search { rules, known, flows };
        for _ in 0..turns.min(self.turns_left) {
            let Some(at) = self.at.take() else { return true };
            self.at = self.turn(&search, at);
        }
        self.turns_left = self.turns_left.saturating_sub(turns);
        self.at.is_none() || self.turns_left == 0
    }

    /// Adds the part that ends now, and the time before it in which nothing ran; returns what held up that part.
    fn turn(&mut self, search: &Search<'_>, at: Blocker) -> Option<Blocker> {
        let (rules, slice, now) = (search.rules, at.by, self.now);
        let begin = rules.span.start;
        let from = rules.profile.slices().start(slice).max(begin).min(now);
        let inside = search.waited_for(slice, now).or_else(|| search.last_inside(slice, now));
        let from = inside.map_or(from, |blocker| blocker.until.max(from));
        let next = inside.or_else(|| search.blocker_of(slice)).map(|blocker| innermost(rules, search.known, blocker));
        self.push(Some(slice), from, at.cause);
        let next = next.filter(|_| self.now > begin)?;
        if next.until < self.now {
            self.push(None, next.until.max(begin), PathReason::Idle);
        }
        (self.now > begin).then_some(next)
    }

    /// Adds a part from a time until now, unless it is empty.
    fn push(&mut self, slice: Option<SliceId>, from: TraceNs, cause: PathReason) {
        if from < self.now {
            self.parts.push(PathPart { slice, span: Interval::new(from, self.now), cause });
        }
        self.now = from;
    }

    /// The path it found.
    pub fn into_path(mut self) -> CriticalPath {
        self.parts.reverse();
        CriticalPath { parts: self.parts }
    }
}

/// The most callers that are looked at one by one; of a deeper stack, whole blocks that ended before are skipped.
const MOST_CLIMBED: usize = 64;

/// The innermost slice of a track at a time that can be on the path.
fn running(rules: &Rules<'_>, known: &TraceScan, track: TrackId, at: TraceNs) -> Option<SliceId> {
    let slices = rules.profile.slices();
    let runs = |id: &SliceId| slices.end(*id) > at && rules.counts(*id);
    let first = slices.range_of(track).start;
    let last = first_starting(rules.profile, track, TraceNs(at.0.saturating_add(1))).checked_sub(1)?;
    let mut stack = (last >= first).then(|| SliceId::from_usize(last));
    for _ in 0..MOST_CLIMBED {
        let id = stack?;
        if runs(&id) {
            return Some(id);
        }
        stack = slices.stack_parent(id);
    }
    let mut next = stack?.index() + 1;
    while next > first {
        let block = (next - 1) / BLOCK;
        let begin = (block * BLOCK).max(first);
        if known.block_ends.get(block).is_none_or(|end| *end > at)
            && let Some(id) = (begin..next).rev().map(SliceId::from_usize).find(runs)
        {
            return Some(id);
        }
        next = begin;
    }
    None
}

/// The same cause, with the innermost slice that ran on that track at that time.
fn innermost(rules: &Rules<'_>, known: &TraceScan, blocker: Blocker) -> Blocker {
    let track = rules.profile.slices().track(blocker.by);
    let by = blocker.until.0.checked_sub(1).and_then(|at| running(rules, known, track, TraceNs(at)));
    by.filter(|by| *by > blocker.by).map_or(blocker, |by| Blocker { by, ..blocker })
}

/// Finds the slice that held up another one.
struct Search<'a> {
    rules: &'a Rules<'a>,
    known: &'a TraceScan,
    flows: &'a FlowIndex,
}

impl Search<'_> {
    fn work(&self, id: SliceId) -> Option<Work> {
        self.rules.works.of_slice(self.rules.profile, self.rules.profile.slices().track(id), id)
    }

    fn counts(&self, id: SliceId) -> bool {
        self.rules.counts(id)
    }

    /// For a slice that waits for a device: the device slice that ended last within it, before `now`.
    fn waited_for(&self, id: SliceId, now: TraceNs) -> Option<Blocker> {
        let slices = self.rules.profile.slices();
        let name = self.rules.profile.str(slices.name(id));
        // Copies from pageable memory block their caller until they are done.
        let blocks = name.contains("Memcpy") && !name.contains("Async") && self.work(id) == Some(Work::Host);
        if self.work(id) != Some(Work::Wait) && !blocks {
            return None;
        }
        let last = |ends: &Vec<(TraceNs, SliceId)>| {
            let n = ends.partition_point(|(end, _)| *end <= now);
            ends[..n].last().copied()
        };
        let (until, by) = self.known.devices.iter().filter_map(last).max()?;
        (until > slices.start(id)).then_some(Blocker { by, until, cause: PathReason::Wait })
    }

    /// The slice directly inside another one that ended last before `now`.
    fn last_inside(&self, id: SliceId, now: TraceNs) -> Option<Blocker> {
        let by = self.last_ended(self.rules.profile.slices().track(id), now, Some(id))?;
        Some(Blocker { by, until: self.rules.profile.slices().end(by), cause: PathReason::Track })
    }

    /// The slice of a track, or below a slice, that started last among those that ended by a time; of several nested ones
    /// the outermost.
    fn last_ended(&self, track: TrackId, at: TraceNs, below: Option<SliceId>) -> Option<SliceId> {
        let slices = self.rules.profile.slices();
        let first = below.map_or(slices.range_of(track).start, |id| id.index() + 1);
        let ended = |id: SliceId| self.counts(id) && slices.end(id) <= at;
        let latest = first_starting(self.rules.profile, track, at);
        let mut starting = (first..latest).rev().take(MOST_LOOKED_BACK).map(SliceId::from_usize);
        let found = starting.find(|id| ended(*id))?;
        // Not the parent that was running when it began: that may have ended long before, like a call that begins a range.
        let around = std::iter::successors(Some(found), |id| slices.enclosing(*id));
        let mut inside = around.take_while(|id| id.index() >= first && slices.end(*id) <= at);
        let outermost = inside.by_ref().take(MOST_CLIMBED).filter(|id| self.counts(*id)).last();
        match inside.next() {
            Some(deeper) => self.first_around(first, deeper, at).or(outermost),
            None => outermost,
        }
    }

    /// The first slice from a position on that is around another one and ended by a time.
    fn first_around(&self, first: usize, inner: SliceId, at: TraceNs) -> Option<SliceId> {
        let slices = self.rules.profile.slices();
        let is_around =
            |id: &SliceId| slices.end(*id) <= at && slices.end(*id) >= slices.end(inner) && self.counts(*id);
        let mut next = first;
        while next <= inner.index() {
            let end = ((next / BLOCK + 1) * BLOCK).min(inner.index() + 1);
            if self.known.block_ends.get(next / BLOCK).is_none_or(|latest| *latest >= slices.end(inner))
                && let Some(id) = (next..end).map(SliceId::from_usize).find(is_around)
            {
                return Some(id);
            }
            next = end;
        }
        None
    }

    /// Finds the slice that held up the start of another one.
    fn blocker_of(&self, id: SliceId) -> Option<Blocker> {
        let slices = self.rules.profile.slices();
        let start = slices.start(id);
        let arrows = self.flows.predecessors(id).filter(|&p| p != id && slices.start(p) <= start && self.counts(p));
        let arrow = arrows
            .map(|by| Blocker { by, until: slices.end(by).min(start), cause: PathReason::Arrow })
            .max_by_key(|h| (h.until, h.by));
        let track = slices.track(id);
        let before = self.latest_on(track, start, PathReason::Track);
        match (arrow, before) {
            (Some(a), Some(b)) if b.until > a.until => Some(b),
            (Some(a), _) => Some(a),
            (None, Some(b)) if b.until == start => Some(b),
            (None, b) if self.known.hosts.binary_search(&track).is_ok() => {
                let other = self.other_thread(track, start);
                [b, other].into_iter().flatten().max_by_key(|h| h.until)
            }
            (None, b) => b,
        }
    }

    /// The slice that was running on a track until a time, or ended last before.
    fn latest_on(&self, track: TrackId, at: TraceNs, cause: PathReason) -> Option<Blocker> {
        let just_before = TraceNs(at.0.checked_sub(1)?);
        if let Some(by) = running(self.rules, self.known, track, just_before) {
            return Some(Blocker { by, until: at, cause });
        }
        let by = self.last_ended(track, at, None)?;
        Some(Blocker { by, until: self.rules.profile.slices().end(by), cause })
    }

    /// The slice that another thread of the host was running at a time, or ended last before it.
    fn other_thread(&self, track: TrackId, at: TraceNs) -> Option<Blocker> {
        let mut threads = self.known.threads.borrow_mut();
        let threads = threads.get_or_insert_with(|| CriticalThreads::new(self.rules, &self.known.hosts));
        let (by, until) = threads.latest(self.rules, track, at)?;
        Some(Blocker { by, until, cause: PathReason::Thread })
    }
}
