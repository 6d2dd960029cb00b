//! The critical path: one chain of slices from the start of a span to its end, each of which held up the next.
//!
//! The walk goes backwards from the slice that ends last. At a slice, the time since its start belongs to it, and what
//! held up its start is whichever of these came last:
//!
//! * the end of the slice before it on its track (threads are walked at their innermost slices, so a
//!   slice is left for the last one inside it);
//! * an arrow that leads to it: the work was handed over when the slice at the other end of the arrow ended, or when this
//!   one started if that was earlier;
//! * for a slice of the host that no arrow leads to and that starts after a pause of its thread: what another thread of the
//!   host was running then or ended last before, if that is later. Profiles of Neuron devices have no arrows: there this is so
//!   for every row of work, of the host and of devices.
//!
//! A slice of the host that waits for the device ([`Work::Wait`], or a copy that blocks) hands its time over to the device:
//! the walk goes on from the device slice that ended last within it, if there is one. Annotations are never on the path. Time in which nothing ran on the chain
//! is a part of its own, without a slice. The parts follow one another without a gap or an overlap, so their lengths add up
//! to the span.

use serde::{Deserialize, Serialize};

use super::work::{Family, Work, Works};
use crate::base::{FxHashMap, Idx, Interval, StrId, TraceNs};
use crate::profile::flows::{FlowIndex, first_starting, running_at};
use crate::profile::{Profile, SliceFlags, SliceId, TrackId};

/// Why the walk came to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It ends last.
    Last,
    /// It is before the next one on the same track.
    Track,
    /// An arrow leads from it to the next one.
    Arrow,
    /// It ran on another thread of the host, or row of a Neuron profile, when the next one started after a pause of its own.
    Thread,
    /// The next one waits for it.
    Wait,
    /// Nothing ran: the next one did not start though what it needed was done.
    Idle,
}

/// A part of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPart {
    /// The slice; absent where nothing ran.
    pub slice: Option<SliceId>,
    /// When it held up what comes next.
    pub span: Interval<TraceNs>,
    /// How it is joined to the part after it.
    pub cause: Cause,
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
    /// The name; empty for time in which nothing ran.
    pub name: String,
    /// Its time on the path, in ns.
    pub ns: i64,
    /// Number of parts.
    pub parts: u64,
    /// Its longest part.
    pub longest: Option<SliceId>,
}

impl CriticalPath {
    /// The path within a span of a profile; of all of it when there is none. Empty without closed slices.
    #[must_use]
    pub fn of(profile: &Profile, works: &Works, flows: &FlowIndex, within: Option<Interval<TraceNs>>) -> Self {
        let span =
            within.unwrap_or(Interval::new(profile.span().start, TraceNs(profile.span().end.0.saturating_add(1))));
        let annotation = profile.strings().lookup("user_annotation");
        let (devices, hosts) = (device_tracks(profile, works), host_tracks(profile, works));
        let walk = Walk { profile, works, flows, span, devices, hosts, annotation };
        walk.run()
    }

    /// Its length, in ns.
    #[must_use]
    pub fn length_ns(&self) -> i64 {
        self.parts.iter().map(|p| p.span.end.0 - p.span.start.0).sum()
    }

    /// The time of each name, most first, equal ones by name.
    #[must_use]
    pub fn shares(&self, profile: &Profile) -> Vec<PathShare> {
        let mut by_name: FxHashMap<Option<StrId>, PathShare> = FxHashMap::default();
        let mut longest: FxHashMap<Option<StrId>, i64> = FxHashMap::default();
        for part in &self.parts {
            let name = part.slice.map(|id| profile.slices().name(id));
            let text = name.map_or("", |n| profile.str(n));
            let empty = || PathShare { name: text.to_owned(), ns: 0, parts: 0, longest: None };
            let (share, ns) = (by_name.entry(name).or_insert_with(empty), part.span.end.0 - part.span.start.0);
            share.ns += ns;
            share.parts += 1;
            let most = longest.entry(name).or_insert(-1);
            if ns > *most {
                (*most, share.longest) = (ns, part.slice);
            }
        }
        let mut shares: Vec<_> = by_name.into_values().collect();
        shares.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
        shares
    }
}

/// Most slices looked back over for one that ended: bounds the work where thousands overlap.
const MOST_LOOKED_BACK: usize = 1024;

/// Tracks of devices with the ends of their slices, by time.
struct DeviceTrack {
    ends: Vec<(TraceNs, SliceId)>,
}

fn device_tracks(profile: &Profile, works: &Works) -> Vec<DeviceTrack> {
    let slices = profile.slices();
    let ends = |track: TrackId| {
        let is_device = |id: &SliceId| works.of_slice(profile, track, *id).is_some_and(Work::is_device);
        let mut ends: Vec<_> = slices.of_track(track).filter(is_device).map(|id| (slices.end(id), id)).collect();
        ends.sort_unstable();
        DeviceTrack { ends }
    };
    profile.tracks().ids().map(ends).filter(|t| !t.ends.is_empty()).collect()
}

/// Threads with work of the host, and in a Neuron profile rows with any work; none where no work is known.
fn host_tracks(profile: &Profile, works: &Works) -> Vec<TrackId> {
    let counts = |work: Work| work.is_host() || works.family() == Family::Neuron && work != Work::Marker;
    let is_host = |t: &TrackId| {
        let mut slices = profile.slices().of_track(*t);
        slices.any(|id| works.of_slice(profile, *t, id).is_some_and(counts))
    };
    profile.tracks().ids().filter(is_host).collect()
}

struct Walk<'a> {
    profile: &'a Profile,
    works: &'a Works,
    flows: &'a FlowIndex,
    span: Interval<TraceNs>,
    devices: Vec<DeviceTrack>,
    /// Threads of the host, and rows whose slices wait for those of any other.
    hosts: Vec<TrackId>,
    /// Category of annotations.
    annotation: Option<StrId>,
}

/// What held something up, and until when.
#[derive(Clone, Copy)]
struct Held {
    by: SliceId,
    until: TraceNs,
    cause: Cause,
}

impl Walk<'_> {
    fn run(&self) -> CriticalPath {
        let Some(last) = self.last() else { return CriticalPath::default() };
        let mut parts: Vec<PathPart> = Vec::new();
        let (mut at, mut now) = (self.innermost(last), last.until);
        // Every turn moves back in time or to a slice before the one it left, so this ends.
        let most_turns = self.profile.slices().len().saturating_mul(4).saturating_add(16);
        for _ in 0..most_turns {
            let slice = at.by;
            let from = self.profile.slices().start(slice).max(self.span.start).min(now);
            let inside = self.waited_for(slice, now).or_else(|| self.last_inside(slice, now));
            let from = inside.map_or(from, |held| held.until.max(from));
            let next = inside.or_else(|| self.held_up(slice)).map(|held| self.innermost(held));
            push(&mut parts, Some(slice), from, now, at.cause);
            now = from;
            let Some(next) = next.filter(|_| now > self.span.start) else { break };
            if next.until < now {
                let until = next.until.max(self.span.start);
                push(&mut parts, None, until, now, Cause::Idle);
                now = until;
            }
            if now <= self.span.start {
                break;
            }
            at = next;
        }
        parts.reverse();
        CriticalPath { parts }
    }

    /// The work of a device or the host that ends last; anything where no work is known.
    fn last(&self) -> Option<Held> {
        let slices = self.profile.slices();
        let end = |id: SliceId| slices.end(id).min(self.span.end);
        let counted =
            slices.ids().filter(|&id| self.counts(id) && slices.start(id) < self.span.end && end(id) > self.span.start);
        let last = counted.max_by_key(|&id| (end(id), slices.start(id), id))?;
        Some(Held { by: last, until: end(last), cause: Cause::Last })
    }

    fn work(&self, id: SliceId) -> Option<Work> {
        self.works.of_slice(self.profile, self.profile.slices().track(id), id)
    }

    /// Whether a slice can be on the path: not one that never ended, nor a mere marker.
    fn counts(&self, id: SliceId) -> bool {
        let slices = self.profile.slices();
        if slices.flags(id).has(SliceFlags::UNCLOSED) || Some(slices.category(id)) == self.annotation {
            return false;
        }
        self.works.family() == Family::Other || !matches!(self.work(id), None | Some(Work::Marker))
    }

    /// For a slice that waits for a device: the device slice that ended last within it, before `now`.
    fn waited_for(&self, id: SliceId, now: TraceNs) -> Option<Held> {
        let slices = self.profile.slices();
        let name = self.profile.str(slices.name(id));
        // Copies from pageable memory block their caller until they are done.
        let blocks = name.contains("Memcpy") && !name.contains("Async") && self.work(id) == Some(Work::Host);
        if self.work(id) != Some(Work::Wait) && !blocks {
            return None;
        }
        let last = |t: &DeviceTrack| {
            let n = t.ends.partition_point(|(end, _)| *end <= now);
            t.ends[..n].last().copied()
        };
        let (until, by) = self.devices.iter().filter_map(last).max()?;
        (until > slices.start(id)).then_some(Held { by, until, cause: Cause::Wait })
    }

    /// The slice directly inside another one that ended last before `now`.
    fn last_inside(&self, id: SliceId, now: TraceNs) -> Option<Held> {
        let by = self.last_ended(self.profile.slices().track(id), now, Some(id))?;
        Some(Held { by, until: self.profile.slices().end(by), cause: Cause::Track })
    }

    /// The slice of a track, or below a slice, that started last among those that ended until a time; of several around one
    /// another the outermost.
    fn last_ended(&self, track: TrackId, at: TraceNs, below: Option<SliceId>) -> Option<SliceId> {
        let slices = self.profile.slices();
        let first = below.map_or(slices.range_of(track).start, |id| id.index() + 1);
        let ended = |id: SliceId| self.counts(id) && slices.end(id) <= at;
        let latest = first_starting(self.profile, track, at);
        let mut starting = (first..latest).rev().take(MOST_LOOKED_BACK).map(SliceId::from_usize);
        let found = starting.find(|id| ended(*id))?;
        // Not the one that was running when it began: that may have ended long before, as a call does that begins a range.
        let around = std::iter::successors(Some(found), |id| slices.enclosing(*id));
        let inside = around.take_while(|id| id.index() >= first && slices.end(*id) <= at);
        inside.filter(|id| self.counts(*id)).last()
    }

    /// The same with the innermost slice that ran on that track then.
    fn innermost(&self, held: Held) -> Held {
        let track = self.profile.slices().track(held.by);
        let running = held.until.0.checked_sub(1).and_then(|at| self.running(track, TraceNs(at)));
        running.filter(|by| *by > held.by).map_or(held, |by| Held { by, ..held })
    }

    /// The innermost slice of a track at a time that can be on the path.
    fn running(&self, track: TrackId, at: TraceNs) -> Option<SliceId> {
        let slices = self.profile.slices();
        let stack = std::iter::successors(running_at(self.profile, track, at), |id| slices.stack_parent(*id));
        stack.filter(|id| slices.end(*id) > at).find(|id| self.counts(*id))
    }

    /// What held up the start of a slice.
    fn held_up(&self, id: SliceId) -> Option<Held> {
        let slices = self.profile.slices();
        let start = slices.start(id);
        let arrows = self.flows.predecessors(id).filter(|&p| p != id && slices.start(p) <= start && self.counts(p));
        let arrow = arrows
            .map(|by| Held { by, until: slices.end(by).min(start), cause: Cause::Arrow })
            .max_by_key(|h| (h.until, h.by));
        let track = slices.track(id);
        let before = self.latest_on(track, start, Cause::Track);
        match (arrow, before) {
            (Some(a), Some(b)) if b.until > a.until => Some(b),
            (Some(a), _) => Some(a),
            (None, Some(b)) if b.until == start => Some(b),
            (None, b) if self.hosts.contains(&track) => {
                let other = self.other_thread(track, start);
                [b, other].into_iter().flatten().max_by_key(|h| h.until)
            }
            (None, b) => b,
        }
    }

    /// What was running on a track until a time, or ended last before.
    fn latest_on(&self, track: TrackId, at: TraceNs, cause: Cause) -> Option<Held> {
        let just_before = TraceNs(at.0.checked_sub(1)?);
        if let Some(by) = self.running(track, just_before) {
            return Some(Held { by, until: at, cause });
        }
        let by = self.last_ended(track, at, None)?;
        Some(Held { by, until: self.profile.slices().end(by), cause })
    }

    /// What another thread of the host was running, or ended last before a time.
    fn other_thread(&self, track: TrackId, at: TraceNs) -> Option<Held> {
        let others = self.hosts.iter().filter(|t| **t != track);
        let latest = others.filter_map(|&t| self.latest_on(t, at, Cause::Thread));
        latest.max_by_key(|h| (h.until, self.profile.slices().start(h.by), h.by))
    }
}

/// Adds a part in front, unless it is empty.
fn push(parts: &mut Vec<PathPart>, slice: Option<SliceId>, from: TraceNs, to: TraceNs, cause: Cause) {
    if from < to {
        parts.push(PathPart { slice, span: Interval::new(from, to), cause });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::neuron::{EXECUTION_PROCESS, HLO_TRACK};
    use crate::profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder};

    fn arrow(b: &mut ProfileBuilder, id: u64, from: (TrackId, i64), to: (TrackId, i64)) {
        let (name, category) = (b.intern("ac2g"), b.intern("ac2g"));
        for ((track, ts_ns), phase) in [(from, b's'), (to, b'f')] {
            let (id, args) = (LinkValue::Number(id), ArgsId::NONE);
            b.link(LinkEvent { track, ts_ns, phase, name, category, args, id, binds_enclosing: true });
        }
    }

    #[test]
    fn rows_of_a_neuron_profile_wait_for_one_another_without_arrows() {
        let mut b = ProfileBuilder::new("test");
        let (run, copy, host) =
            (b.process("1", EXECUTION_PROCESS), b.process("2", "Process Data Transfer"), b.process("3", "Overview"));
        let (ops, data) = (b.thread(run, "1", HLO_TRACK), b.thread(copy, "1", HLO_TRACK));
        let setup = b.thread(host, "1", "Neuron Runtime Setup");
        b.slice(setup, 0, 10, "setup", "", None);
        b.slice(data, 10, 20, "weights", "", None);
        b.slice(ops, 32, 8, "dot", "", None);
        b.slice(data, 40, 5, "output", "", None);
        b.slice(setup, 45, 5, "teardown", "", None);
        let profile = b.finish(Diagnostics::new());
        let path = CriticalPath::of(&profile, &Works::of(&profile), &FlowIndex::new(&profile), None);
        let expected = [
            ("setup", 0, 10, Cause::Thread),
            ("weights", 10, 30, Cause::Thread),
            ("", 30, 32, Cause::Idle),
            ("dot", 32, 40, Cause::Thread),
            ("output", 40, 45, Cause::Thread),
            ("teardown", 45, 50, Cause::Last),
        ];
        assert_eq!(brief(&profile, &path), expected.map(|(n, a, z, c)| (n.to_owned(), a, z, c)));
    }

    #[test]
    fn a_range_that_outlives_the_call_that_began_it_hides_nothing() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 100, "main", "cpu_op", None);
        b.slice(t, 5, 5, "enter", "cpu_op", None);
        b.slice(t, 8, 80, "range", "user_annotation", None);
        b.slice(t, 20, 30, "mm", "cpu_op", None);
        b.slice(t, 60, 20, "relu", "cpu_op", None);
        let profile = b.finish(Diagnostics::new());
        let path = CriticalPath::of(&profile, &Works::of(&profile), &FlowIndex::new(&profile), None);
        let ns = |name: &str| path.shares(&profile).iter().find(|s| s.name == name).map(|s| s.ns);
        assert_eq!((ns("mm"), ns("relu"), ns("range")), (Some(30), Some(20), None), "{:?}", brief(&profile, &path));
    }

    fn brief(profile: &Profile, path: &CriticalPath) -> Vec<(String, i64, i64, Cause)> {
        let name = |p: &PathPart| p.slice.map_or(String::new(), |id| profile.str(profile.slices().name(id)).to_owned());
        path.parts.iter().map(|p| (name(p), p.span.start.0, p.span.end.0, p.cause)).collect()
    }

    #[test]
    fn the_path_goes_through_launches_queues_and_waits() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        let (t, k) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"));
        b.slice(t, 0, 40, "aten::mm", "cpu_op", None);
        b.slice(t, 4, 10, "aten::empty", "cpu_op", None);
        b.slice(t, 6, 8, "malloc", "cuda_runtime", None);
        b.slice(t, 20, 10, "launch", "cuda_runtime", None);
        b.slice(t, 40, 5, "launch", "cuda_runtime", None);
        b.slice(t, 50, 130, "cudaDeviceSynchronize", "cuda_runtime", None);
        b.slice(t, 180, 20, "print", "cpu_op", None);
        b.slice(k, 35, 65, "gemm", "kernel", None);
        b.slice(k, 102, 70, "relu", "kernel", None);
        arrow(&mut b, 1, (t, 25), (k, 35));
        arrow(&mut b, 2, (t, 42), (k, 102));
        let profile = b.finish(Diagnostics::new());
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let path = CriticalPath::of(&profile, &works, &flows, None);
        let expected = [
            ("aten::mm", 0, 4, Cause::Track),
            ("aten::empty", 4, 6, Cause::Track),
            ("malloc", 6, 14, Cause::Track),
            ("aten::mm", 14, 20, Cause::Track),
            ("launch", 20, 30, Cause::Arrow),
            ("", 30, 35, Cause::Idle),
            ("gemm", 35, 100, Cause::Track),
            ("", 100, 102, Cause::Idle),
            ("relu", 102, 172, Cause::Wait),
            ("cudaDeviceSynchronize", 172, 180, Cause::Track),
            ("print", 180, 200, Cause::Last),
        ];
        assert_eq!(brief(&profile, &path), expected.map(|(n, s, e, c)| (n.to_owned(), s, e, c)));
        assert_eq!(path.length_ns(), 200);
        let shares: Vec<_> = path.shares(&profile).into_iter().map(|s| (s.name, s.ns)).collect();
        assert_eq!(shares[..2], [("relu".to_owned(), 70), ("gemm".to_owned(), 65)]);
        assert_eq!(shares.iter().map(|s| s.1).sum::<i64>(), 200);
        let part = CriticalPath::of(&profile, &works, &flows, Some(Interval::new(TraceNs(50), TraceNs(110))));
        assert_eq!(part.length_ns(), 60);
        assert!(
            CriticalPath::of(&Profile::default(), &Works::of(&Profile::default()), &FlowIndex::default(), None)
                .parts
                .is_empty()
        );
    }
}
