//! Time in which units work at the same time.

use indexmap::IndexMap;

use super::context::Context;
use super::{Effect, Finding, Rule, SliceRange};
use crate::run::{Item, UnitRun};
use crate::spans::{Spans, both, length_ns, merge};
use ns_base::Interval;
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_whole_share};
use ns_machine::SourceId;

/// Share of the device window below which a saving is not reported, percent. Chosen: the scatter of published rows
/// between releases is many times larger; no document gives a threshold.
const LITTLE_PERCENT: f64 = 1.0;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let engines = c.run.units.iter().filter(|u| u.engine.is_some());
    let mut active: Vec<(&str, Spans)> =
        engines.map(|u| (u.name.as_str(), merge(u.items.iter().map(|i| i.time)))).collect();
    active.push(("DMA", c.dma.clone()));
    let sum: u64 = active.iter().map(|(_, spans)| length_ns(spans)).sum();
    let any = length_ns(&merge(active.iter().flat_map(|(_, spans)| spans.iter().copied())));
    let together = length_ns(&at_once(&active));
    let share = c.share(together);
    // The unit that hides the work of the others; in a tie the last.
    let Some((busiest, spans)) = active.iter().max_by_key(|(_, spans)| length_ns(spans)) else { return Vec::new() };
    if share < LITTLE_PERCENT {
        return Vec::new();
    }
    let title = format!(
        "Units work at the same time for {} ({} of the device window): most of it beside {busiest}.",
        format_ns(u64_to_f64(together)),
        format_whole_share(share)
    );
    let detail =
        "The active times of the engines and of DMA add up to more than the time in which any of them is active.";
    let finding = Finding::new(Rule::OverlapSavesTime, Effect::Saving, together, title, detail)
        .time("active times added up", sum)
        .time("active times merged", any)
        .share("two or more units active, of the device window", share);
    let slices = hidden(c, busiest, spans).into_iter().map(|(_, unit, item)| SliceRange::of(c.run, unit, item));
    vec![finding.showing(slices)]
}

/// Stretches in which two or more units are active.
fn at_once(active: &[(&str, Spans)]) -> Spans {
    let (mut any, mut several) = (Spans::new(), Spans::new());
    for (_, spans) in active {
        several.extend(both(&any, spans));
        any = merge(any.into_iter().chain(spans.iter().copied()));
    }
    merge(several.into_iter())
}

/// Operations of other units that run beside the busiest one, those with the most time first, each with its item that
/// overlaps longest.
fn hidden<'a>(c: &Context<'a>, busiest: &str, spans: &[Interval<i64>]) -> Vec<(i64, &'a UnitRun, &'a Item)> {
    let transfers = c.transfers().map(|(u, i, _)| (u, i)).filter(|_| busiest != "DMA");
    let others = c.engine_items().filter(|(u, _)| u.name != busiest).chain(transfers);
    let mut operations: IndexMap<(&str, SourceId), Hidden<'a>> = IndexMap::new();
    for (unit, item) in others {
        let ns = shared_ns(item.time, spans);
        if ns > 0 {
            let new = || Hidden { total_ns: 0, longest_ns: 0, unit, item };
            let operation = operations.entry((unit.name.as_str(), item.source)).or_insert_with(new);
            operation.total_ns += ns;
            if ns > operation.longest_ns {
                (operation.longest_ns, operation.item) = (ns, item);
            }
        }
    }
    let mut hidden: Vec<_> = operations.into_values().map(|h| (h.total_ns, h.unit, h.item)).collect();
    hidden.order_by_key(|(ns, _, i)| (-ns, i.time.start));
    hidden
}

/// An operation that runs beside the busiest unit.
struct Hidden<'a> {
    total_ns: i64,
    longest_ns: i64,
    unit: &'a UnitRun,
    item: &'a Item,
}

/// How much of `time` these sorted, disjoint spans cover.
fn shared_ns(time: Interval<i64>, spans: &[Interval<i64>]) -> i64 {
    let first = spans.partition_point(|s| s.end <= time.start);
    let inside = spans[first..].iter().take_while(|s| s.start < time.end);
    inside.map(|s| s.end.min(time.end) - s.start.max(time.start)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::isa::Engine;

    fn run(shift: i64) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let (load, add) = (t.source("m/load", "parameter"), t.source("m/add", "add"));
        t.queue("a", (0, 400), load, dma(Role::Weight, 1, 1));
        t.queue("b", (200, 400), load, dma(Role::Input, 1, 1));
        t.item(Engine::Vector, (300 + shift, 500 + shift), add, Work::Elementwise);
        t
    }

    #[test]
    fn active_times_less_their_union_is_saved() {
        let t = run(0);
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert_eq!((found.time_ns, found.effect), (100, Effect::Saving));
        assert!(found.title.contains("100 ns (20 %") && found.title.contains("beside DMA"), "{}", found.title);
        let shown: Vec<_> = found.slices.iter().map(|s| (s.row.as_str(), s.path.as_str())).collect();
        assert_eq!(shown, [("Vector", "m/add")]);
    }

    #[test]
    fn is_silent_when_one_works_after_another() {
        assert_eq!(only(find, &run(100).run()), []);
    }
}
