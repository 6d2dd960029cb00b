//! Engines that stand still for long, and what they wait for.

use super::context::Context;
use super::{Effect, Finding, Rule, SliceRange};
use crate::base::Interval;
use crate::base::units::format_ns;
use crate::insight::run::{Item, ItemRef, Run, UnitRun};

/// Share of the device window above which a gap is long, percent.
const LONG_PERCENT: f64 = 10.0;

/// The longest gap of an engine before an item that waited.
struct Gap<'a> {
    unit: &'a UnitRun,
    time: Interval<i64>,
    /// Of what had to run in the gap, what took longest.
    awaited: (&'a UnitRun, &'a Item),
}

impl Gap<'_> {
    fn ns(&self) -> u64 {
        (self.time.end - self.time.start).unsigned_abs()
    }
}

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let engines = c.run.units.iter().filter(|u| u.engine.is_some());
    let mut gaps: Vec<Gap<'_>> =
        engines.filter_map(|u| longest_gap(c.run, u)).filter(|g| c.share(g.ns()) > LONG_PERCENT).collect();
    // Stable: of equal ones the engine that is listed first.
    gaps.sort_by_key(|g| std::cmp::Reverse(g.ns()));
    let Some(longest) = gaps.first() else { return Vec::new() };
    let title = format!(
        "The {} engine stands still for {} ({:.0} % of the device window); most of that {} takes.",
        longest.unit.name,
        format_ns(longest.ns() as f64),
        c.share(longest.ns()),
        described(c.run, longest.awaited)
    );
    let detail = "What takes the time is the place to shorten, or to start earlier. The evidence has the longest wait of each \
        engine; the slices are what it waited for.";
    let mut finding = Finding::new(Rule::EngineWaits, Effect::Symptom, longest.ns(), title, detail);
    for gap in &gaps {
        let name = format!(
            "{} waits from {} ns, most of it for {}",
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

/// Back along the chain of waits: the item that took the most of the gap, the nearest one of equal ones.
fn slowest<'a>(run: &'a Run<'a>, gap: Interval<i64>, awaited: ItemRef) -> Option<(&'a UnitRun, &'a Item)> {
    let inside = |i: &Item| i.time.end.min(gap.end) - i.time.start.max(gap.start);
    let mut slowest = run.item(awaited)?;
    let mut at = slowest.1.waited_for;
    while let Some(next) = at.and_then(|at| run.item(at)).filter(|(_, i)| i.time.end > gap.start) {
        if inside(next.1) > inside(slowest.1) {
            slowest = next;
        }
        at = next.1.waited_for;
    }
    Some(slowest)
}

/// `weights on qSyncWeights0 (NN[model]/Linear[layer1]/aten__permute_transpose)`.
fn described(run: &Run<'_>, (unit, item): (&UnitRun, &Item)) -> String {
    let what = item.transfer().map_or(String::new(), |t| format!("{} on ", t.role.words()));
    format!("{what}{} ({})", unit.name, run.path(item))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::findings::only;
    use crate::insight::testing::{TestRun, dma};
    use crate::insight::{Role, Work};
    use crate::machine::isa::Engine;

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
        assert!(found.title.contains("most of that Tensor (m/dot) takes"), "{}", found.title);
        let evidence: Vec<_> = found.evidence.iter().map(|e| (e.name.as_str(), e.text())).collect();
        let expected = "Tensor waits from 0 ns, most of it for weights on q (m/weight)";
        assert_eq!(evidence[1], (expected, "300 ns".to_owned()));
        assert_eq!(found.slices[1].row, "q");
    }

    #[test]
    fn the_chain_of_waits_is_followed_to_what_takes_the_time() {
        let t = run(700);
        let found = only(find, &t.run());
        // The vector engine waits for the product, which takes 100 ns, and that for the weights, which take 700.
        assert!(found[0].title.contains("most of that weights on q (m/weight) takes"), "{}", found[0].title);
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
