//! Engines that are idle for a long time, and what they wait for.

use super::context::Context;
use super::{Effect, Finding, Rule, SliceRange};
use crate::Resource;
use crate::run::{Item, ItemRef, Run, UnitRun};
use ns_base::Interval;
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_whole_share};

/// Share of the device window above which a gap is long, percent (derived: the NKI guides call an engine well used when it
/// is active for 90 % of the time, and one gap of this length already prevents that).
const LONG_PERCENT: f64 = 10.0;

/// The longest gap of an engine before an item that waited.
struct Gap<'a> {
    unit: &'a UnitRun,
    time: Interval<i64>,
    /// The longest of the items that held it back in the gap.
    awaited: (&'a UnitRun, &'a Item),
}

impl Gap<'_> {
    fn ns(&self) -> u64 {
        (self.time.end - self.time.start).unsigned_abs()
    }
}

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    // An engine that has little to do is not meant to be busy.
    let busy = |u: &UnitRun| c.limiter.unit(Resource::of(u.engine)).map_or(0, |unit| unit.busy_ns);
    let works = |u: &&UnitRun| u.engine.is_some() && c.share(busy(u)) >= LONG_PERCENT;
    let engines = c.run.units.iter().filter(works);
    let mut gaps: Vec<Gap<'_>> =
        engines.filter_map(|u| longest_gap(c.run, u)).filter(|g| c.share(g.ns()) > LONG_PERCENT).collect();
    // The sort is stable: of equal gaps, the engine that is listed first.
    gaps.order_by_key(|g| std::cmp::Reverse(g.ns()));
    let Some(longest) = gaps.first() else { return Vec::new() };
    let title = format!(
        "The {} engine stands still for {} ({} of the device window). Of what it waits for, the longest is {}: \
         {}.",
        longest.unit.name,
        format_ns(u64_to_f64(longest.ns())),
        format_whole_share(c.share(longest.ns())),
        described(c.run, longest.awaited),
        format_ns(u64_to_f64(inside_ns(longest.time, longest.awaited.1)))
    );
    let detail = "What takes the time is the place to shorten, or to start earlier. The evidence has the longest wait of each \
        engine; the slices are what it waited for.";
    let mut finding = Finding::new(Rule::EngineWaits, Effect::Symptom, longest.ns(), title, detail);
    for gap in &gaps {
        let name = format!(
            "{} waits from {} ns, longest for {}",
            gap.unit.name,
            gap.time.start,
            described(c.run, gap.awaited)
        );
        finding = finding.time(&name, gap.ns());
    }
    vec![finding.showing(gaps.iter().map(|g| SliceRange::of(c.run, g.awaited.0, g.awaited.1)))]
}

fn longest_gap<'a>(run: &'a Run<'a>, unit: &'a UnitRun) -> Option<Gap<'a>> {
    let mut longest: Option<(Interval<i64>, ItemRef)> = None;
    let mut free_at = run.window.start;
    for item in &unit.items {
        let length = longest.map_or(0, |(time, _)| time.end - time.start);
        if item.time.start - free_at > length
            && let Some(awaited) = item.waited_for
        {
            longest = Some((Interval::new(free_at, item.time.start), awaited));
        }
        free_at = free_at.max(item.time.end);
    }
    let (time, awaited) = longest?;
    Some(Gap { unit, time, awaited: slowest(run, time, awaited)? })
}

/// Follows the items that held each other back; returns the one that took the largest part of the gap, the nearest of
/// equal ones.
fn slowest<'a>(run: &'a Run<'a>, gap: Interval<i64>, awaited: ItemRef) -> Option<(&'a UnitRun, &'a Item)> {
    let mut slowest = run.item(awaited)?;
    let mut at = before(run, awaited);
    // No chain is longer than the run; a chain of an imported profile might be circular.
    for _ in 0..run.units.iter().map(|u| u.items.len()).sum() {
        let Some((here, next)) = at.and_then(|at| Some((at, run.item(at)?))) else { break };
        if next.1.time.end <= gap.start {
            break;
        }
        if inside_ns(gap, next.1) > inside_ns(gap, slowest.1) {
            slowest = next;
        }
        at = before(run, here);
    }
    Some(slowest)
}

/// What held an item back: the item it waited for or the previous item of its engine, whichever ended later. DMAs of
/// a queue do not wait for the end of the previous one.
fn before(run: &Run<'_>, at: ItemRef) -> Option<ItemRef> {
    let (unit, item) = run.item(at)?;
    let previous = at.item.checked_sub(1).map(|item| ItemRef { item, ..at });
    let end = |at: ItemRef| run.item(at).map(|(_, i)| i.time.end);
    match (item.waited_for, previous) {
        (Some(awaited), Some(previous)) if unit.engine.is_some() && end(previous) > end(awaited) => Some(previous),
        (Some(awaited), _) => Some(awaited),
        (None, previous) => previous,
    }
}

/// How much of the gap an item took, nanoseconds.
fn inside_ns(gap: Interval<i64>, item: &Item) -> u64 {
    u64::try_from(item.time.end.min(gap.end) - item.time.start.max(gap.start)).unwrap_or(0)
}

/// `weights on qSyncWeights0 (NN[model]/Linear[layer1]/aten__addmm_dot)`.
fn described(run: &Run<'_>, (unit, item): (&UnitRun, &Item)) -> String {
    let what = item.transfer().map_or(String::new(), |t| format!("{} on ", t.role.words()));
    format!("{what}{} ({})", unit.name, run.path(item))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::isa::Engine;

    fn run(until: i64) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let (weight, dot) = (t.source("m/weight", "transpose"), t.source("m/dot", "dot"));
        let loaded = t.queue("q", (0, until), weight, dma(Role::Weight, 1, 1));
        let matmul = Work::Matmul { flops: 1, passes: 1, transpose: false };
        let product = t.item(Engine::Tensor, (until, 800), dot, matmul);
        let copied = t.item(Engine::Vector, (800, 1_000), dot, Work::Copy);
        t.waits(product, loaded);
        t.waits(copied, product);
        t
    }

    #[test]
    fn the_longest_wait_of_each_engine_is_listed() {
        let t = run(300);
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert_eq!(found.time_ns, 800);
        assert!(found.title.contains("Vector engine stands still for 800 ns (80 %"), "{}", found.title);
        assert!(found.title.contains("the longest is Tensor (m/dot): 500 ns"), "{}", found.title);
        let evidence: Vec<_> = found.evidence.iter().map(|e| (e.name.as_str(), e.text())).collect();
        let expected = "Tensor waits from 0 ns, longest for weights on q (m/weight)";
        assert_eq!(evidence[1], (expected, "300 ns".to_owned()));
        assert_eq!(found.slices[1].row, "q");
    }

    #[test]
    fn the_chain_of_waits_is_followed_to_what_takes_the_time() {
        let t = run(700);
        let found = only(find, &t.run());
        // The vector engine waits for the product, which takes 100 ns; the product waits for the weights, which take
        // 700.
        assert!(found[0].title.contains("the longest is weights on q (m/weight): 700 ns"), "{}", found[0].title);
    }

    #[test]
    fn the_chain_goes_through_earlier_instructions_of_an_engine() {
        let mut t = run(700);
        // The instruction that waits for the weights is not the one that the vector engine waits for.
        let tensor = &mut t.units[Engine::Tensor.index()].items;
        let mut first = tensor[0];
        first.time.end = 710;
        tensor[0].time.start = 710;
        tensor[0].waited_for = None;
        tensor.insert(0, first);
        t.units[Engine::Vector.index()].items[0].waited_for = Some(ItemRef { unit: 0, item: 1 });
        let found = only(find, &t.run());
        assert!(found[0].title.contains("the longest is weights on q (m/weight): 700 ns"), "{}", found[0].title);
    }

    #[test]
    fn is_silent_when_engines_are_busy() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/op", "add");
        let a = t.item(Engine::Vector, (0, 500), s, Work::Elementwise);
        let b = t.item(Engine::Vector, (590, 1_000), s, Work::Elementwise);
        t.waits(b, a);
        assert_eq!(only(find, &t.run()), []);
    }
}
