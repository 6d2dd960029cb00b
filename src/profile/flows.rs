//! Flow events as arrows between slices.
//!
//! A flow is the events of one category, name and id, by time: it starts with `s`, continues with `t` and ends with `f`.
//! An event belongs to the innermost slice of its thread that is running then. An `f` without `"bp":"e"` belongs to the
//! next slice that starts on the thread (or to the running one if none follows), as the trace event format says.

use super::{LinkId, LinkValue, ProcessId, Profile, SliceId, TrackId};
use ns_base::{FxHashMap, FxHashSet, Interval, Order, StrId, TraceNs};

/// About the width of a screen in pixels.
const PIXELS: i64 = 1_024;

/// One arrow, from a slice to the slice that its flow continues in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The slice where it begins.
    pub from: SliceId,
    /// The slice where it ends.
    pub to: SliceId,
}

/// All arrows of a profile.
#[derive(Clone, Debug, Default)]
pub struct FlowIndex {
    /// The arrows, by where they begin.
    by_from: Vec<Arrow>,
    /// The arrows, by where they end.
    by_to: Vec<Arrow>,
    /// Number of flow events outside any slice, or whose flow has no other end.
    unbound: u64,
}

/// The key that joins the events of a flow; with the process if the id is valid only in it.
type Key = (StrId, StrId, LinkValue, Option<ProcessId>);

impl FlowIndex {
    /// Joins the flow events of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let links = profile.links();
        let mut last: FxHashMap<Key, Option<SliceId>> = FxHashMap::default();
        let mut index = Self::default();
        let mut arrows = 0_u64;
        let mut events = 0_u64;
        for id in links.ids().filter(|id| matches!(links.phase(*id), 's' | 't' | 'f')) {
            events += 1;
            let process = profile.tracks().get(links.track(id)).map(|track| track.process);
            let process = process.filter(|_| links.id(id).is_local(profile) == Some(true));
            let key = (links.category(id), links.name(id), links.id(id), process);
            let slice = bound_slice(profile, id);
            let before = if links.phase(id) == 's' { None } else { last.get(&key).copied().flatten() };
            if let (Some(from), Some(to)) = (before, slice)
                && from != to
            {
                index.by_from.push(Arrow { from, to });
                arrows += 1;
            }
            last.insert(key, slice);
        }
        index.unbound = events.saturating_sub(arrows.saturating_mul(2));
        index.by_to.clone_from(&index.by_from);
        index.by_from.order_by_key(|a| (a.from, a.to));
        index.by_from.dedup();
        index.by_to.order_by_key(|a| (a.to, a.from));
        index.by_to.dedup();
        index
    }

    /// Number of arrows.
    pub fn len(&self) -> usize {
        self.by_from.len()
    }

    /// Whether the profile has no arrows.
    pub fn is_empty(&self) -> bool {
        self.by_from.is_empty()
    }

    /// Number of flow events without an arrow: they are outside any slice, or their flow has no other end.
    pub const fn unbound(&self) -> u64 {
        self.unbound
    }

    /// All arrows, by where they begin.
    pub fn arrows(&self) -> &[Arrow] {
        &self.by_from
    }

    /// The arrows from a slice.
    pub fn successors(&self, of: SliceId) -> impl Iterator<Item = SliceId> + '_ {
        let first = self.by_from.partition_point(|a| a.from < of);
        self.by_from[first..].iter().take_while(move |a| a.from == of).map(|a| a.to)
    }

    /// The arrows to a slice.
    pub fn predecessors(&self, of: SliceId) -> impl Iterator<Item = SliceId> + '_ {
        let first = self.by_to.partition_point(|a| a.to < of);
        self.by_to[first..].iter().take_while(move |a| a.to == of).map(|a| a.from)
    }

    /// Arrows that touch a span, at most `limit`, by where they begin. If there are more, only one is taken of those that
    /// would be drawn over each other: from the same pixel of a track to the same pixel of another.
    pub fn within(&self, profile: &Profile, span: Interval<TraceNs>, limit: usize) -> Vec<Arrow> {
        let slices = profile.slices();
        let touches = |a: &&Arrow| slices.start(a.from) <= span.end && slices.end(a.to) >= span.start;
        let mut found: Vec<Arrow> = self.by_from.iter().filter(touches).copied().collect();
        let length = span.end.0.saturating_sub(span.start.0).max(1);
        let mut pixel_ns = (length / PIXELS).max(1);
        while found.len() > limit && limit > 0 {
            let pixel =
                |id: SliceId| (slices.track(id), slices.start(id).0.saturating_sub(span.start.0).div_euclid(pixel_ns));
            let mut seen: FxHashSet<_> = FxHashSet::default();
            found.retain(|a| seen.insert((pixel(a.from), pixel(a.to))));
            if pixel_ns > length {
                // There are too many pairs of tracks: no more arrows can be merged.
                found.truncate(limit);
            }
            pixel_ns = pixel_ns.saturating_mul(2);
        }
        found.truncate(limit);
        found
    }
}

/// The slice that a flow event belongs to.
fn bound_slice(profile: &Profile, id: LinkId) -> Option<SliceId> {
    let links = profile.links();
    let (track, at) = (links.track(id), links.ts(id));
    let running = running_at(profile, track, at);
    if links.phase(id) != 'f' || links.binds_enclosing(id) {
        return running;
    }
    next_from(profile, track, at).or(running)
}

/// The innermost slice of a track that runs at a time; a slice that ends exactly then counts if no other runs.
pub fn running_at(profile: &Profile, track: TrackId, at: TraceNs) -> Option<SliceId> {
    let slices = profile.slices();
    let after = first_starting(profile, track, TraceNs(at.0.saturating_add(1)));
    let last = after.checked_sub(1).filter(|i| *i >= slices.range_of(track).start)?;
    let chain = || {
        let first = SliceId(u32::try_from(last).unwrap_or(u32::MAX));
        std::iter::successors(Some(first), |id| slices.stack_parent(*id))
    };
    chain().find(|id| slices.end(*id) > at).or_else(|| chain().find(|id| slices.end(*id) == at))
}

/// The first slice of a track that starts at a time or later, the outermost of those that start together.
fn next_from(profile: &Profile, track: TrackId, at: TraceNs) -> Option<SliceId> {
    let first = first_starting(profile, track, at);
    (first < profile.slices().range_of(track).end).then(|| SliceId(u32::try_from(first).unwrap_or(u32::MAX)))
}

/// Position of the first slice of a track that starts at a time or later.
pub fn first_starting(profile: &Profile, track: TrackId, at: TraceNs) -> usize {
    let slices = profile.slices();
    let range = slices.range_of(track);
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if slices.start(SliceId(u32::try_from(middle).unwrap_or(u32::MAX))) < at {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgsId, LinkEvent, ProfileBuilder};
    use ns_base::Diagnostics;

    fn flow(b: &mut ProfileBuilder, track: TrackId, ts_ns: i64, phase: u8, id: u64, binds_enclosing: bool) {
        let (name, category) = (b.intern("flow"), b.intern("ac2g"));
        let id = LinkValue::Number(id);
        b.link(LinkEvent { track, ts_ns, phase, name, category, args: ArgsId::NONE, id, binds_enclosing });
    }

    #[test]
    fn a_limit_keeps_arrows_of_every_part() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (cpu, gpu) = (b.thread(p, "1", "cpu"), b.thread(p, "2", "gpu"));
        for i in 0..5_000_i64 {
            b.slice(cpu, i * 100, 50, "launch", "", None);
            b.slice(gpu, i * 100 + 60, 30, "kernel", "", None);
            flow(&mut b, cpu, i * 100 + 10, b's', i.unsigned_abs(), false);
            flow(&mut b, gpu, i * 100 + 60, b'f', i.unsigned_abs(), true);
        }
        let profile = b.finish(Diagnostics::default());
        let flows = FlowIndex::new(&profile);
        let all = profile.span();
        let some = flows.within(&profile, all, 400);
        assert!((200..=400).contains(&some.len()), "{}", some.len());
        let in_quarter = |q: i64| {
            let quarter = all.end.0 / 4;
            some.iter().filter(|a| profile.slices().start(a.from).0 / quarter.max(1) == q).count()
        };
        assert!((0..4).all(|q| in_quarter(q) > 40), "every quarter has arrows");
        assert_eq!(flows.within(&profile, all, 10_000).len(), 5_000);
        assert!(flows.within(&profile, all, 0).is_empty());
    }

    #[test]
    fn an_arrow_connects_the_running_slice_with_its_target() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (cpu, gpu) = (b.thread(p, "1", "cpu"), b.thread(p, "2", "gpu"));
        b.slice(cpu, 0, 100, "step", "", None);
        b.slice(cpu, 10, 20, "launch", "", None);
        b.slice(gpu, 40, 10, "kernel", "", None);
        b.slice(gpu, 60, 10, "other", "", None);
        flow(&mut b, cpu, 10, b's', 1, false);
        flow(&mut b, gpu, 40, b'f', 1, true);
        // Without bp:e the arrow ends in the next slice.
        flow(&mut b, cpu, 50, b's', 2, false);
        flow(&mut b, gpu, 45, b'f', 3, false);
        flow(&mut b, gpu, 55, b'f', 2, false);
        let profile = b.finish(Diagnostics::new());
        let flows = FlowIndex::new(&profile);
        let name = |id: SliceId| profile.str(profile.slices().name(id)).to_owned();
        let pairs: Vec<_> = flows.arrows().iter().map(|a| (name(a.from), name(a.to))).collect();
        assert_eq!(pairs, [("step".to_owned(), "other".to_owned()), ("launch".to_owned(), "kernel".to_owned())]);
        let launch = SliceId(1);
        assert_eq!(flows.successors(launch).map(name).collect::<Vec<_>>(), ["kernel"]);
        assert_eq!(flows.predecessors(SliceId(2)).collect::<Vec<_>>(), [launch]);
        assert_eq!(flows.predecessors(launch).count(), 0);
        let late = Interval::new(TraceNs(71), TraceNs(99));
        assert_eq!(flows.within(&profile, late, 9).len(), 0);
        assert_eq!((flows.len(), flows.unbound), (2, 1));
    }

    #[test]
    fn steps_of_a_flow_are_joined_one_by_one() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let tracks = [b.thread(p, "1", ""), b.thread(p, "2", ""), b.thread(p, "3", "")];
        for (i, track) in tracks.into_iter().enumerate() {
            let at = i as i64 * 10;
            b.slice(track, at, 5, "s", "", None);
            flow(&mut b, track, at + 1, [b's', b't', b'f'][i], 7, true);
        }
        let profile = b.finish(Diagnostics::new());
        let arrows = FlowIndex::new(&profile);
        let ids: Vec<_> = arrows.arrows().iter().map(|a| (a.from.0, a.to.0)).collect();
        assert_eq!(ids, [(0, 1), (1, 2)]);
        // At the end of one slice, the next slice on the track is the running one.
        assert_eq!(running_at(&profile, tracks[0], TraceNs(5)), Some(SliceId(0)));
        assert_eq!(running_at(&profile, tracks[0], TraceNs(6)), None);
    }
}
