//! Attributes the time of an execution to operations: the shares add up to the time in which any unit worked.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::run::{Run, UnitRun};
use ns_base::convert::{f64_to_u64, i64_to_f64, u64_to_f64};
use ns_base::{IndexVec, Interval};
use ns_machine::isa::Engine;
use ns_machine::{SourceEntry, SourceId, SourceMember};

/// The time of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTime {
    /// Its share of the execution, nanoseconds. An instant in which several engines work is divided evenly between the operations that
    /// they serve; an instant in which no engine works is divided between the transfers that run. The shares of all operations add up
    /// to the time in which any unit worked.
    pub share_ns: f64,
    /// How long each engine worked for it, nanoseconds, in the order of [`Engine::ALL`].
    pub engine_ns: [u64; Engine::ALL.len()],
    /// Sum of the times of its transfers, nanoseconds.
    pub transfer_ns: u64,
}

impl SourceTime {
    /// The engine that worked longest for it.
    #[must_use]
    pub fn main_engine(&self) -> Option<Engine> {
        let busiest = Engine::ALL.into_iter().rev().max_by_key(|e| self.engine_ns[e.index()])?;
        (self.engine_ns[busiest.index()] > 0).then_some(busiest)
    }

    /// Adds a fraction of another operation's time, 0 to 1.
    pub fn add_part(&mut self, other: &Self, part: f64) {
        self.share_ns += other.share_ns * part;
        for (own, more) in self.engine_ns.iter_mut().zip(other.engine_ns) {
            *own += part_of(more, part);
        }
        self.transfer_ns += part_of(other.transfer_ns, part);
    }
}

/// The time of each operation of a run.
#[must_use]
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
    for (source, share) in shares(&run.units) {
        if let Some(time) = times.get_mut(source) {
            time.share_ns += share;
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
#[must_use]
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
    all.sort_by_key(|o| std::cmp::Reverse(o.engine_ns.iter().sum::<u64>()));
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

/// The share of each item. Between two consecutive borders of items, every running item gets the same amount. So it is enough
/// to sum this amount once, and to take the difference of the sum between an item's end and its start.
fn shares(units: &[UnitRun]) -> Vec<(SourceId, f64)> {
    let items: Vec<(Interval<i64>, SourceId, usize)> = units
        .iter()
        .flat_map(|unit| unit.items.iter().map(|i| (i.time, i.source, usize::from(unit.engine.is_none()))))
        .filter(|(time, ..)| time.end > time.start)
        .collect();
    let mut borders: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * items.len());
    for (i, (time, ..)) in items.iter().enumerate() {
        borders.push((time.start, true, i));
        borders.push((time.end, false, i));
    }
    borders.sort_unstable();
    let mut begun = vec![0.0_f64; items.len()];
    // For engines and for transfers: the number that run, and the sum so far.
    let mut running = [0_u32; 2];
    let mut got = [0.0_f64; 2];
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
            shares.push((source, got[kind] - begun[i]));
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Item, Work};
    use crate::testing::TestRun;
    use ns_machine::isa::Activity;

    fn item(source: SourceId, from: i64, to: i64) -> Item {
        let (activity, work) = (Activity::Execution, Work::Elementwise);
        Item { time: Interval::new(from, to), source, activity, work, waited_for: None }
    }

    #[test]
    fn shares_sum_up_to_the_time_in_which_anything_worked() {
        let mut test = TestRun::new(0, 100);
        let (a, b) = (test.source("m/a", "dot"), test.source("m/b", "add"));
        // a alone, both, b alone; a transfer for b under all of it and 10 ns longer; then nothing.
        test.units[0].items = vec![item(a, 0, 20)];
        test.units[1].items = vec![item(b, 10, 30)];
        test.units.push(UnitRun { name: "queue".to_owned(), engine: None, items: vec![item(b, 0, 40)] });
        let run = Run {
            products: None,
            total: test.total,
            window: test.total,
            units: test.units,
            sources: &test.sources,
            model_flops: None,
            memory: None,
        };
        let times = time_by_source(&run);
        assert_eq!((times[a].share_ns, times[b].share_ns), (15.0, 25.0));
        assert_eq!((times[a].main_engine(), times[b].main_engine()), (Some(Engine::Tensor), Some(Engine::Vector)));
        assert_eq!((times[b].engine_ns[1], times[b].transfer_ns), (20, 40));
    }
}
