//! Attributes the time of an execution to operations.
//!
//! * While anything executes on an engine, the time belongs to the operation that began last: its self time, as every table of a
//!   profile counts it.
//! * While nothing executes, the time is exposed: it is divided evenly between the operations for which engines move data or load
//!   tables, and while these rest too, between those whose transfers run.
//!
//! Both together add up to the time in which any unit worked. A fusion's time is divided between its members ([`parts_of`]).

use std::cmp::Reverse;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::run::{Item, Run, UnitRun};
use ns_base::convert::{f64_to_u64, i64_to_f64, u64_to_f64};
use ns_base::{IndexVec, Interval, Order, Sweep};
use ns_machine::isa::{Activity, Engine};
use ns_machine::{SourceEntry, SourceId, SourceMember};

/// The time of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTime {
    /// Its self time, nanoseconds: while it executes and no operation that began later does.
    pub executing_ns: f64,
    /// The time in which nothing executes and data is moved for it, nanoseconds.
    pub exposed_ns: f64,
    /// How long each engine worked for it, nanoseconds, in the order of [`Engine::ALL`].
    pub engine_ns: [u64; Engine::ALL.len()],
    /// Sum of the times of its transfers, nanoseconds.
    pub transfer_ns: u64,
}

impl SourceTime {
    /// The engine that worked longest for it.
    pub fn main_engine(&self) -> Option<Engine> {
        let busiest = Engine::ALL.into_iter().rev().max_by_key(|e| self.engine_ns[e.index()])?;
        (self.engine_ns[busiest.index()] > 0).then_some(busiest)
    }

    /// Adds a fraction of another operation's time, 0 to 1.
    pub fn add_part(&mut self, other: &Self, part: f64) {
        self.executing_ns += other.executing_ns * part;
        self.exposed_ns += other.exposed_ns * part;
        for (own, more) in self.engine_ns.iter_mut().zip(other.engine_ns) {
            *own += part_of(more, part);
        }
        self.transfer_ns += part_of(other.transfer_ns, part);
    }
}

/// The time of each operation of a run.
pub fn time_by_source(run: &Run<'_>) -> IndexVec<SourceId, SourceTime> {
    let mut times: IndexVec<SourceId, SourceTime> = run.sources.iter().map(|_| SourceTime::default()).collect();
    for unit in &run.units {
        for item in &unit.items {
            let Some(time) = times.get_mut(item.source) else { continue };
            let ns = item.time.end.saturating_sub(item.time.start).max(0).unsigned_abs();
            match unit.engine {
                Some(engine) => time.engine_ns[engine.index()] += ns,
                None => time.transfer_ns += ns,
            }
        }
    }
    let executing = executing(&run.units);
    for (source, ns) in self_times(&executing) {
        if let Some(time) = times.get_mut(source) {
            time.executing_ns += i64_to_f64(ns);
        }
    }
    for (source, share) in exposed(&run.units, &executing) {
        if let Some(time) = times.get_mut(source) {
            time.exposed_ns += share;
        }
    }
    times
}

/// Engine time of one framework operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorTime {
    /// Name in framework operators: `aten__addmm_dot`.
    pub name: String,
    /// How long each engine worked for it, nanoseconds, in the order of [`Engine::ALL`].
    pub engine_ns: [u64; Engine::ALL.len()],
}

/// The engine time of each framework operator of a run, the longest first. A fusion's time counts for its members by their parts.
pub fn time_by_operator(run: &Run<'_>) -> Vec<OperatorTime> {
    let mut operators: IndexMap<&str, [u64; Engine::ALL.len()]> = IndexMap::new();
    for (id, time) in time_by_source(run).iter_enumerated() {
        let Some(source) = run.sources.get(id) else { continue };
        for (part, operator) in parts_of(source) {
            let sum =
                operators.entry(operator.map_or(source.framework_op.as_str(), SourceMember::framework_op)).or_default();
            for (own, more) in sum.iter_mut().zip(time.engine_ns) {
                *own += part_of(more, part);
            }
        }
    }
    let operator = |(name, engine_ns): (&str, _)| OperatorTime { name: name.to_owned(), engine_ns };
    let mut all: Vec<OperatorTime> = operators.into_iter().map(operator).collect();
    all.order_by_key(|o| std::cmp::Reverse(o.engine_ns.iter().sum::<u64>()));
    all
}

/// The members that have a part of an operation's time, each with its part; the operation itself, which has all of it, if it is no
/// fusion.
pub fn parts_of(source: &SourceEntry) -> impl Iterator<Item = (f64, Option<&SourceMember>)> {
    let whole = source.members.is_empty().then_some((1.0, None));
    let with_part = source.members.iter().filter(|m| m.share_ppm > 0);
    with_part.map(|m| (f64::from(m.share_ppm) / 1e6, Some(m))).chain(whole)
}

/// A part of a time, nanoseconds.
fn part_of(ns: u64, part: f64) -> u64 {
    f64_to_u64(libm::round(u64_to_f64(ns) * part))
}

/// The stretches in which each operation executes, by start, of equal starts the longest first.
fn executing(units: &[UnitRun]) -> Vec<(SourceId, Interval<i64>)> {
    let mut of: IndexMap<SourceId, Vec<Interval<i64>>> = IndexMap::new();
    let engines = units.iter().filter(|unit| unit.engine.is_some()).flat_map(|unit| &unit.items);
    for item in engines.filter(|item| item.activity == Activity::Execution) {
        of.entry(item.source).or_default().push(item.time);
    }
    let stretches = |(source, times)| Interval::merge(times).into_iter().map(move |time| (source, time));
    let mut all: Vec<(SourceId, Interval<i64>)> = of.into_iter().flat_map(stretches).collect();
    all.order_by_key(|(source, time)| (time.start, Reverse(time.end), *source));
    all
}

/// The time of each stretch in which no later one runs.
fn self_times(executing: &[(SourceId, Interval<i64>)]) -> Vec<(SourceId, i64)> {
    let mut own = Vec::new();
    let mut give = |source, time: Interval<i64>| own.push((source, time.end - time.start));
    let mut sweep = Sweep::default();
    for (source, time) in executing {
        sweep.begin(*source, *time, &mut give);
    }
    sweep.finish(&mut give);
    own
}

/// What an item does while nothing executes.
const EXECUTES: usize = 0;
const ON_ENGINE: usize = 1;
const TRANSFERS: usize = 2;

/// The exposed time of each item that does not execute. Between two consecutive borders of items, every running item of a kind gets
/// the same amount. So it is enough to sum this amount once, and to take the difference of the sum between an item's end and its
/// start.
fn exposed(units: &[UnitRun], executing: &[(SourceId, Interval<i64>)]) -> Vec<(SourceId, f64)> {
    let others = units.iter().flat_map(|unit| {
        let kind = if unit.engine.is_some() { ON_ENGINE } else { TRANSFERS };
        let waits = move |item: &&Item| kind == TRANSFERS || item.activity != Activity::Execution;
        unit.items.iter().filter(waits).map(move |item| (item.time, item.source, kind))
    });
    let executing = executing.iter().map(|(source, time)| (*time, *source, EXECUTES));
    let items: Vec<(Interval<i64>, SourceId, usize)> =
        executing.chain(others).filter(|(time, ..)| time.end > time.start).collect();
    let mut borders: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * items.len());
    for (i, (time, ..)) in items.iter().enumerate() {
        borders.push((time.start, true, i));
        borders.push((time.end, false, i));
    }
    borders.order();
    let mut begun = vec![0.0_f64; items.len()];
    // For each kind: the number that run, and the sum so far.
    let mut running = [0_u32; 3];
    let mut got = [0.0_f64; 3];
    let mut now = borders.first().map_or(0, |b| b.0);
    let mut shares = Vec::with_capacity(items.len());
    for (at, begins, i) in borders {
        if let Some(kind) = running.iter().position(|&n| n > 0) {
            got[kind] += i64_to_f64(at - now) / f64::from(running[kind]);
        }
        now = at;
        let (_, source, kind) = items[i];
        if begins {
            running[kind] += 1;
            begun[i] = got[kind];
        } else {
            running[kind] -= 1;
            if kind != EXECUTES {
                shares.push((source, got[kind] - begun[i]));
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Item, Work};
    use crate::testing::TestRun;
    use proptest::prelude::*;

    fn item(source: SourceId, from: i64, to: i64) -> Item {
        let (activity, work) = (Activity::Execution, Work::Elementwise);
        Item { time: Interval::new(from, to), source, activity, work, waited_for: None }
    }

    #[test]
    fn times_sum_up_to_the_time_in_which_anything_worked() {
        let mut test = TestRun::new(0, 100);
        let (a, b) = (test.source("m/a", "dot"), test.source("m/b", "add"));
        // a alone, both, b alone; a transfer for b under all of it and 10 ns longer; then nothing.
        test.units[0].items = vec![item(a, 0, 20)];
        test.units[1].items = vec![item(b, 10, 30)];
        test.units.push(UnitRun { name: "queue".to_owned(), engine: None, items: vec![item(b, 0, 40)] });
        let run = Run {
            products: None,
            rows_per_partition: 1,
            clock_limits: Vec::new(),
            throttle: None,
            total: test.total,
            window: test.total,
            units: test.units,
            sources: &test.sources,
            model_flops: None,
            memory: None,
        };
        let times = time_by_source(&run);
        // b began last; then only its transfer runs.
        assert_eq!((times[a].executing_ns, times[a].exposed_ns), (10.0, 0.0));
        assert_eq!((times[b].executing_ns, times[b].exposed_ns), (20.0, 10.0));
        assert_eq!((times[a].main_engine(), times[b].main_engine()), (Some(Engine::Tensor), Some(Engine::Vector)));
        assert_eq!((times[b].engine_ns[1], times[b].transfer_ns), (20, 40));
    }

    proptest! {
        #[test]
        fn times_of_any_run_sum_up_to_the_time_in_which_anything_worked(
            items in prop::collection::vec((0usize..6, 0u32..4, 0i64..200, 0i64..40, any::<bool>()), 0..60),
        ) {
            let mut test = TestRun::new(0, 300);
            let sources: Vec<SourceId> = (0..4).map(|i| test.source(&format!("m/{i}"), "add")).collect();
            let engines = test.units.len();
            test.units.push(UnitRun { name: "queue".to_owned(), engine: None, items: Vec::new() });
            let mut covered = Vec::new();
            for (unit, source, from, ns, executes) in items {
                let unit = unit.min(engines);
                let mut new = item(sources[source as usize], from, from + ns);
                if unit == engines || !executes {
                    new.activity = Activity::DataTransfer;
                }
                covered.push(new.time);
                test.units[unit].items.push(new);
            }
            let times = time_by_source(&test.run());
            let sum: f64 = times.iter().map(|t| t.executing_ns + t.exposed_ns).sum();
            let worked: i64 = Interval::merge(covered).iter().map(|t| t.end - t.start).sum();
            prop_assert!((sum - worked as f64).abs() < 1e-6, "{} is not {}", sum, worked);
            prop_assert!(times.iter().all(|t| t.executing_ns >= 0.0 && t.exposed_ns >= -1e-9));
        }
    }
}
