//! Time on the stack: how long calls of a thread ran, in themselves and in what they call, and which of them explains a span.
//!
//! The call that explains some stretches of time is chosen by two rules:
//!
//! * A call that is on the stack for nine tenths of the whole time, such as `main` or the loop of a training script, explains
//!   nothing, unless no other call holds a fifth of the stretches.
//! * Of the calls left, those that hold at least three quarters of what the largest one holds explain nearly as much. The one
//!   among them that runs least in all is chosen: it is the innermost, and the one that does little else.

use std::cmp::Reverse;

use crate::work::{Work, Works};
use ns_base::{FxHashMap, Interval, Order, StrId, TraceNs};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// Sorted, disjoint stretches of time.
#[derive(Debug)]
pub(crate) struct Stretches {
    /// Each with the length of those before it, in ns.
    all: Vec<(Interval<TraceNs>, i64)>,
    pub total_ns: i64,
}

impl Stretches {
    /// Prepares sorted, disjoint stretches.
    pub fn new(stretches: impl IntoIterator<Item = Interval<TraceNs>>) -> Self {
        let mut total_ns = 0;
        let mut all = Vec::new();
        for stretch in stretches {
            all.push((stretch, total_ns));
            total_ns += stretch.end.0 - stretch.start.0;
        }
        Self { all, total_ns }
    }

    /// The parts of a window in which none of some sorted, disjoint spans is.
    pub fn without(window: Interval<TraceNs>, spans: &[Interval<TraceNs>]) -> Self {
        let ends = spans.iter().map(|s| s.start).chain([window.end]);
        let starts = std::iter::once(window.start).chain(spans.iter().map(|s| s.end));
        Self::new(starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| Interval::new(start, end)))
    }

    /// Their length before an instant.
    fn ns_until(&self, at: TraceNs) -> i64 {
        let after = self.all.partition_point(|(stretch, _)| stretch.start < at);
        after.checked_sub(1).map_or(0, |i| {
            let (stretch, before) = self.all[i];
            before + at.min(stretch.end).0 - stretch.start.0
        })
    }

    /// How much of them a span covers.
    pub fn ns_in(&self, span: Interval<TraceNs>) -> i64 {
        self.ns_until(span.end) - self.ns_until(span.start)
    }
}

/// The calls of one name on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub name: StrId,
    /// Time on the stack within the stretches, in ns: a call inside one of its own name counts once.
    pub ns: i64,
    /// Time on the stack in all, in ns.
    pub all_ns: i64,
    /// The slice with the most time within the stretches.
    pub longest: SliceId,
    longest_ns: i64,
    /// The end of the last slice so far.
    until: TraceNs,
}

/// The calls among some slices of one thread, which come by start, with their times; `within` cuts the slices.
pub(crate) fn calls(
    profile: &Profile,
    ids: impl Iterator<Item = SliceId>,
    stretches: &Stretches,
    within: Interval<TraceNs>,
) -> Vec<Call> {
    let slices = profile.slices();
    let mut of_name: FxHashMap<StrId, usize> = FxHashMap::default();
    let mut calls: Vec<Call> = Vec::new();
    for id in ids {
        let (name, time) = (slices.name(id), slices.interval(id));
        let (start, end) = (time.start.max(within.start), time.end.min(within.end));
        if start >= end {
            continue;
        }
        let at = *of_name.entry(name).or_insert_with(|| {
            calls.push(Call { name, ns: 0, all_ns: 0, longest: id, longest_ns: -1, until: start });
            calls.len() - 1
        });
        let call = &mut calls[at];
        let ns = stretches.ns_in(Interval::new(start, end));
        if ns > call.longest_ns {
            (call.longest_ns, call.longest) = (ns, id);
        }
        let start = start.max(call.until);
        if start < end {
            call.ns += stretches.ns_in(Interval::new(start, end));
            call.all_ns += end.0 - start.0;
            call.until = end;
        }
    }
    calls
}

/// The calls that explain stretches of a length, the best first; the module says which. Empty if none is on the stack in them.
pub(crate) fn explaining(calls: &[Call], stretches_ns: i64, whole_ns: i64) -> Vec<Call> {
    let mut left: Vec<Call> = calls.iter().copied().filter(|call| !is_root(call, whole_ns)).collect();
    let most = |calls: &[Call]| calls.iter().map(|call| call.ns).max().unwrap_or(0);
    if most(&left).saturating_mul(5) < stretches_ns {
        left = calls.to_vec();
    }
    let most = most(&left);
    left.retain(|call| call.ns > 0 && call.ns.saturating_mul(4) >= most.saturating_mul(3));
    // Of calls that run equally long, the one that begins last is inside.
    left.order_by_key(|call| (call.all_ns, Reverse(call.longest)));
    left
}

/// Whether a call is on the stack nearly all the time.
pub(crate) const fn is_root(call: &Call, whole_ns: i64) -> bool {
    call.all_ns.saturating_mul(10) >= whole_ns.saturating_mul(9)
}

/// Whether a slice of a track is a call that has time on a stack. Markers and rows that repeat the work of others are none.
pub(crate) fn is_call(profile: &Profile, works: &Works, track: TrackId, id: SliceId) -> bool {
    let rows_are_known = matches!(works.family(), Family::Neuron | Family::Xla);
    !profile.slices().flags(id).has(SliceFlags::UNCLOSED)
        && match works.of_slice(profile, track, id) {
            None => !rows_are_known,
            Some(work) => work != Work::Marker,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    const WHOLE: Interval<TraceNs> = Interval { start: TraceNs(0), end: TraceNs(1_000) };

    fn span(start: i64, end: i64) -> Interval<TraceNs> {
        Interval::new(TraceNs(start), TraceNs(end))
    }

    fn profile(slices: &[(i64, i64, &str)]) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        for &(start, dur, name) in slices {
            b.slice(t, start, dur, name, "python_function", None);
        }
        b.finish(Diagnostics::new())
    }

    fn explains(slices: &[(i64, i64, &str)], idle: &[Interval<TraceNs>]) -> (String, i64) {
        let profile = profile(slices);
        let idle = Stretches::new(idle.iter().copied());
        let all = calls(&profile, profile.slices().ids(), &idle, WHOLE);
        let first = explaining(&all, idle.total_ns, 1_000)[0];
        (profile.str(first.name).to_owned(), first.ns)
    }

    #[test]
    fn a_call_has_the_time_of_what_it_calls_and_the_root_explains_nothing() {
        let slices = [
            (0, 1_000, "main"),
            (100, 300, "load"),
            (100, 90, "decode"),
            (190, 100, "resize"),
            (300, 90, "stack"),
            (400, 500, "train"),
        ];
        assert_eq!(explains(&slices, &[span(100, 400), span(500, 550)]), ("load".to_owned(), 300));
        // Where one thing inside takes nearly all of it, that explains it.
        let slices = [(0, 1_000, "main"), (100, 300, "load"), (110, 280, "decode")];
        assert_eq!(explains(&slices, &[span(100, 400)]), ("decode".to_owned(), 280));
        // If nothing else is there, the root is the cause, and of two the inner one.
        assert_eq!(explains(&[(0, 1_000, "main"), (20, 970, "sleep")], &[span(100, 900)]), ("sleep".to_owned(), 800));
    }

    #[test]
    fn what_is_left_of_a_window_without_spans_is_stretches() {
        let idle = Stretches::without(span(0, 100), &[span(0, 10), span(30, 40), span(90, 100)]);
        assert_eq!(idle.total_ns, 20 + 50);
        assert_eq!(idle.ns_in(span(20, 50)), 10 + 10);
        assert_eq!(Stretches::without(span(0, 100), &[]).total_ns, 100);
    }

    proptest! {
        #[test]
        fn time_on_the_stack_is_that_of_the_definition(
            slices in prop::collection::vec((0i64..90, 0i64..40, 0usize..4), 1..30),
            edges in prop::collection::btree_set(0i64..100, 0..12), cut in (0i64..50, 50i64..100),
        ) {
            let names = ["a", "b", "c", "d"];
            // A profile begins with its first slice.
            let written = slices.iter().map(|&(at, dur, name)| (at, dur, names[name]));
            let profile = profile(&written.chain([(0, 1, "origin")]).collect::<Vec<_>>());
            let edges: Vec<i64> = edges.into_iter().collect();
            let idle: Vec<_> = edges.chunks_exact(2).map(|e| span(e[0], e[1])).collect();
            let within = span(cut.0, cut.1);
            let threads: Vec<_> = profile.tracks().ids().collect();
            let found = calls(&profile, crate::self_time::Order::of(&profile, &threads), &Stretches::new(idle.iter().copied()), within);
            for name in names {
                let runs = |now: i64| slices.iter().any(|s| names[s.2] == name && (s.0..s.0 + s.1).contains(&now));
                let all: Vec<i64> = (cut.0..cut.1).filter(|now| runs(*now)).collect();
                let in_idle = all.iter().filter(|now| idle.iter().any(|s| s.contains(TraceNs(**now)))).count();
                let call = found.iter().find(|c| profile.str(c.name) == name);
                let times = call.map_or((0, 0), |c| (c.ns, c.all_ns));
                prop_assert_eq!(times, (in_idle as i64, all.len() as i64), "{}", name);
            }
        }
    }
}
