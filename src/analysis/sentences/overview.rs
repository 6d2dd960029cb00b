//! The content of an overview of a profile: the sentences, and the numbers behind them.

use super::breakdown::{Breakdown, Layers};
use super::causes::IdleReason;
use super::say;
use super::tally::{Own, SliceSet, Tally};
use super::types::Sentence;
use crate::Threads;
use crate::grouping::thread_text;
use crate::idle::IdleGaps;
use crate::opcode::opcode;
use crate::self_time::self_stretches;
use crate::work::{Work, Works};
use ns_base::convert::i64_to_f64;
use ns_base::{FxHashMap, Idx, Interval, Order, StrId, TraceNs, stats};
use ns_profile::device::DeviceTimes;
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceId};

/// Number of operations whose covered time is computed. Findings are about these alone, because the others have none.
pub const EXAMINED: usize = 3;

/// The main facts about a profile.
#[derive(Debug, Default)]
pub struct Overview {
    /// The sentences: first the kind of the profile, then the most important ones first.
    pub sentences: Vec<Sentence>,
    /// Where the time went from the first to the last work, or step, of devices; absent if no device is known.
    pub breakdown: Option<Breakdown>,
    /// Whether the time is the time of marked steps.
    pub by_steps: bool,
    /// Steps in order of time, if they are marked.
    pub steps: Vec<Step>,
    /// Operations by self time, longest first: of framework operators or instructions of a Neuron profile, of devices if there
    /// are any, else of all.
    pub operations: Vec<Operation>,
    /// Why devices were idle.
    pub idle: IdleReason,
    /// The longest stretch in which data moves.
    pub longest_transfer: Option<Interval<TraceNs>>,
    /// The longest stretch in which devices exchange data.
    pub longest_communication: Option<Interval<TraceNs>>,
    /// The longest gap of a device. Its sentence is the one of [`super::Topic::Idle`].
    pub longest_gap: Option<Interval<TraceNs>>,
    /// For each thread how much of it slices cover, in ns, longest first; threads without slices are left out.
    pub threads: Vec<(String, i64)>,
    /// The times of the engines of a device, if the profile shows its instructions.
    pub device: Option<DeviceTimes>,
}

impl Overview {
    /// The median length of the marked steps, in ns.
    pub fn median_step_ns(&self) -> Option<i64> {
        let mut lengths: Vec<i64> = self.steps.iter().map(|s| s.breakdown.whole_ns()).collect();
        lengths.sort_unstable();
        stats::median_sorted(&lengths)
    }
}

/// A marked step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its slice.
    pub slice: SliceId,
    /// Its name.
    pub name: String,
    /// Its span, and how it was spent.
    pub breakdown: Breakdown,
}

/// Slices whose names differ only in a number or in template arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Self time, in ns.
    pub self_ns: i64,
    /// How often it ran; an interrupted operation counts once.
    pub count: u64,
    /// The part of the timeline that its self time covers, in ns: several devices or threads count once. Only the first [`EXAMINED`]
    /// operations have it; it is 0 for the others.
    pub covered_ns: i64,
    /// Share of the self time of all operations, in percent.
    pub percent: f64,
    /// The slice with the most self time.
    pub longest: SliceId,
}

/// Assembles the overview.
pub(super) fn overview(profile: &Profile, works: &Works, tally: &Tally, gaps: &IdleGaps) -> Overview {
    let has_devices = works.family() != Family::Other && !tally.device.is_empty();
    let counted = match works.family() {
        Family::Neuron if !tally.own_framework.is_empty() => SliceSet::Framework,
        Family::Neuron if !tally.own_instructions.is_empty() => SliceSet::Instructions,
        _ if has_devices => SliceSet::Device,
        _ => SliceSet::All,
    };
    let (own, idle) = (tally.own_of(counted), IdleReason::of(profile, works, tally, gaps));
    let mut operations = operations(profile, own);
    let first = operations.len().min(EXAMINED);
    cover(profile, works, counted, own, &mut operations[..first]);
    let layers = Layers::of(tally);
    let step = |&(slice, span): &(SliceId, Interval<TraceNs>)| Step {
        slice,
        name: profile.str(profile.slices().name(slice)).to_owned(),
        breakdown: layers.within(span),
    };
    let longest = |work| {
        let spans = tally.covered.get(&work)?;
        spans.iter().copied().max_by_key(|s| (s.end.0 - s.start.0, std::cmp::Reverse(s.start)))
    };
    let mut threads: Vec<(String, i64)> = tally
        .covered_ns
        .iter_enumerated()
        .filter(|(_, ns)| **ns > 0)
        .map(|(track, ns)| (thread_text(profile, track), *ns))
        .collect();
    threads.order_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    Overview {
        sentences: say::all(profile, works, tally, gaps, &idle),
        breakdown: tally.window.filter(|_| has_devices).map(|window| layers.within(window)),
        by_steps: tally.by_steps,
        steps: if tally.by_steps { tally.steps.iter().map(step).collect() } else { Vec::new() },
        operations,
        idle,
        longest_transfer: longest(Work::Transfer),
        longest_communication: longest(Work::Communication),
        longest_gap: gaps.gaps.first().map(|gap| gap.span),
        threads,
        device: works.device().cloned(),
    }
}

/// Fills in how much of the timeline the self time of these operations covers: a slice that waits for what it called covers nothing
/// meanwhile.
fn cover(
    profile: &Profile,
    works: &Works,
    counted: SliceSet,
    own: &FxHashMap<StrId, Own>,
    operations: &mut [Operation],
) {
    let mut of_name: Vec<Option<usize>> = vec![None; profile.strings().len()];
    for name in own.keys() {
        let operation = opcode(profile.str(*name));
        if let Some(slot) = of_name.get_mut(name.index()) {
            *slot = operations.iter().position(|o| o.name == *operation);
        }
    }
    let mut spans: Vec<Vec<Interval<TraceNs>>> = operations.iter().map(|_| Vec::new()).collect();
    let all: Vec<_> = profile.tracks().ids().collect();
    for lanes in Threads::of(profile).lanes(&all) {
        self_stretches(profile, &lanes, |id, time| {
            counted.each_name(profile, works, profile.slices().track(id), id, |name| {
                if let Some(at) = of_name.get(name.index()).copied().flatten() {
                    spans[at].push(time);
                }
            });
        });
    }
    for (operation, spans) in operations.iter_mut().zip(spans) {
        operation.covered_ns = Interval::total_ns(&Interval::merge(spans));
    }
}

/// Operations by self time, longest first, ties by name; operations without self time are left out.
pub(super) fn operations(profile: &Profile, own: &FxHashMap<StrId, Own>) -> Vec<Operation> {
    let whole: i64 = own.values().map(|o| o.ns).sum();
    let found = say::by_operation(profile, own);
    let mut found: Vec<Operation> = found
        .into_iter()
        .filter(|(_, (own, _))| own.ns > 0)
        .map(|(name, (own, _))| Operation {
            name: name.into_owned(),
            self_ns: own.ns,
            covered_ns: 0,
            count: own.count,
            percent: if whole > 0 { i64_to_f64(own.ns) * 100.0 / i64_to_f64(whole) } else { 0.0 },
            longest: own.longest,
        })
        .collect();
    // Stable: ties stay in the order of their names.
    found.order_by_key(|o| std::cmp::Reverse(o.self_ns));
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Overview, SentencesPass};
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use ns_profile::flows::FlowIndex;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    /// Slices of a program: thread, start, duration, name.
    type Written = [(usize, i64, i64, &'static str)];

    fn of(written: &Written) -> Overview {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "java");
        let threads = ["1", "2", "3"].map(|t| b.thread(p, t, ""));
        written.iter().for_each(|&(t, at, dur, name)| b.slice(threads[t], at, dur, name, "", None));
        let profile = b.finish(Diagnostics::new());
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let mut pass = SentencesPass::new(&profile);
        while !pass.advance(&profile, &works, &flows, usize::MAX) {}
        pass.finish_overview(&profile, &works)
    }

    #[test]
    fn an_operation_that_waits_for_what_it_called_covers_nothing_meanwhile() {
        let found = of(&[(0, 0, 100, "execute"), (0, 10, 80, "run"), (1, 5, 100, "execute"), (1, 15, 80, "run")]);
        let covered: Vec<_> = found.operations.iter().map(|o| (o.name.as_str(), o.self_ns, o.covered_ns)).collect();
        assert_eq!(covered, [("run", 160, 85), ("execute", 40, 30)]);
    }

    proptest! {
        #[test]
        fn what_an_operation_covers_is_that_of_the_definition(
            written in prop::collection::vec((0usize..3, 0i64..80, 1i64..40, 0usize..3), 1..20),
        ) {
            let names = ["a", "b", "c"];
            let written: Vec<_> = written.into_iter().map(|(t, at, dur, name)| (t, at, dur, names[name])).collect();
            // Of equal spans the later one has the time.
            let running = |thread: usize, now: i64| {
                let all = written.iter().enumerate().filter(move |(_, s)| s.0 == thread && (s.1..s.1 + s.2).contains(&now));
                all.max_by_key(|(i, s)| (s.1, Reverse(s.2), *i)).map(|(_, s)| s.3)
            };
            let found = of(&written);
            for operation in found.operations {
                let on = |now: i64| (0..3).filter(|t| running(*t, now) == Some(operation.name.as_str())).count() as i64;
                let own: i64 = (0..120).map(on).sum();
                let covered = (0..120).filter(|now| on(*now) > 0).count() as i64;
                prop_assert_eq!((operation.self_ns, operation.covered_ns), (own, covered), "{}", operation.name);
            }
        }
    }
}
