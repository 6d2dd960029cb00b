//! Tables of activation functions: loaded ahead beside weights, or when their function is already due.

use std::collections::BTreeSet;

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::run::{Item, UnitRun};
use crate::spans::{length_ns, merge};
use crate::{Role, Work};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_ns;

/// Tolerance for rounding to nanoseconds: largest distance between a load's end and the next start that still counts
/// as touching.
const TOUCHING_NS: i64 = 1;

/// A table load and the function that needs it.
#[derive(Clone, Copy)]
struct Load<'a> {
    unit: &'a UnitRun,
    item: &'a Item,
    needed_at: i64,
}

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let loads: Vec<Load<'_>> = c.run.units.iter().flat_map(loads_of).collect();
    let is_late = |l: &Load<'_>| l.needed_at - l.item.time.end <= TOUCHING_NS && l.item.waited_for.is_some();
    let (late, ahead): (Vec<Load<'_>>, Vec<Load<'_>>) = loads.into_iter().partition(is_late);
    let beside: Vec<Load<'_>> = ahead
        .into_iter()
        .filter(|l| l.needed_at - l.item.time.end > TOUCHING_NS && weights_beside(c, l).next().is_some())
        .collect();
    loaded_late(c, &late).into_iter().chain(preloaded(c, &beside)).collect()
}

fn loads_of(unit: &UnitRun) -> impl Iterator<Item = Load<'_>> {
    unit.items.iter().enumerate().filter(|(_, i)| matches!(i.work, Work::TableLoad)).filter_map(move |(n, item)| {
        let function = unit.items[n..].iter().find(|i| matches!(i.work, Work::Activate))?;
        Some(Load { unit, item, needed_at: function.time.start })
    })
}

/// Modules whose weights are being loaded at the same time as the table.
fn weights_beside<'a>(c: &Context<'a>, load: &Load<'_>) -> impl Iterator<Item = String> {
    let time = load.item.time;
    let weights = c.transfers().filter(move |(_, i, t)| t.role == Role::Weight && i.time.overlaps(&time));
    weights.filter_map(|(_, i, _)| c.run.source(i)).map(|s| s.scope.join("/"))
}

fn active_ns(loads: &[Load<'_>]) -> u64 {
    length_ns(&merge(loads.iter().map(|l| l.item.time)))
}

fn loaded_late(c: &Context<'_>, late: &[Load<'_>]) -> Option<Finding> {
    let first = late.first()?;
    let time = active_ns(late);
    let title = format!(
        "The table of activation functions for {} is loaded when the function is due: {} on the way to the result{}.",
        c.run.path(first.item),
        format_ns(u64_to_f64(time)),
        if late.len() > 1 { format!(", in {} loads", late.len()) } else { String::new() }
    );
    let detail = "The scalar engine computes such functions by table, and holds the table of one set at a time. A traced model \
        loads the first one at the start; functions of one set need no further load.";
    let finding = Finding::new(Rule::TableLoadedLate, Effect::Cost, time, title, detail)
        .count("loads", late.len() as u64)
        .time("loading", time);
    Some(finding.longest(c.run, late.iter().map(|l| (l.unit, l.item))))
}

fn preloaded(c: &Context<'_>, beside: &[Load<'_>]) -> Option<Finding> {
    let first = beside.first()?;
    let time = active_ns(beside);
    let modules: BTreeSet<String> = weights_beside(c, first).collect();
    let modules: Vec<String> = modules.into_iter().collect();
    let lead = (first.needed_at - first.item.time.end).unsigned_abs();
    let title = format!(
        "The table of activation functions for {} is loaded beside the weights of {}, {} before it is needed.",
        c.run.path(first.item),
        modules.join(", "),
        format_ns(u64_to_f64(lead))
    );
    let detail = "Such functions are computed by table, and loading one moves data. Beside transfers that have to be waited for \
        anyway it costs nothing.";
    let finding = Finding::new(Rule::TablePreloaded, Effect::Saving, time, title, detail)
        .count("loads", beside.len() as u64)
        .time("loading", time)
        .time("from load to first use", lead);
    let weights = c.transfers().filter(|(_, i, t)| t.role == Role::Weight && i.time.overlaps(&first.item.time));
    let finding = finding.longest(c.run, beside.iter().map(|l| (l.unit, l.item)));
    Some(finding.longest(c.run, weights.map(|(u, i, _)| (u, i))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use ns_machine::isa::Engine;

    /// A table load at this time, weights until 400, the function at 1000.
    fn run(load: (i64, i64), waits: bool) -> TestRun {
        let mut t = TestRun::new(0, 2_000);
        let weight = t.source("m/Linear[layer1]/transpose", "transpose");
        let tanh = t.source("m/Tanh[nl2]/tanh", "tanh");
        let weights = t.queue("q", (0, 400), weight, dma(Role::Weight, 1, 1));
        let loaded = t.item(Engine::Scalar, load, tanh, Work::TableLoad);
        t.item(Engine::Scalar, (1_000, 1_100), tanh, Work::Activate);
        if waits {
            t.waits(loaded, weights);
        }
        t
    }

    #[test]
    fn a_load_beside_weights_is_a_saving() {
        let [found] = &only(find, &run((0, 300), false).run())[..] else { panic!("one finding") };
        assert_eq!((found.rule, found.effect, found.time_ns), (Rule::TablePreloaded, Effect::Saving, 300));
        let expected = "for m/Tanh[nl2]/tanh is loaded beside the weights of m/Linear[layer1], 700 ns before";
        assert!(found.title.contains(expected), "{}", found.title);
        let rows: Vec<&str> = found.slices.iter().map(|s| s.row.as_str()).collect();
        assert_eq!(rows, ["Scalar", "q"]);
    }

    #[test]
    fn a_load_right_before_its_function_is_a_cost() {
        let [found] = &only(find, &run((700, 1_000), true).run())[..] else { panic!("one finding") };
        assert_eq!((found.rule, found.effect, found.time_ns), (Rule::TableLoadedLate, Effect::Cost, 300));
    }

    #[test]
    fn a_load_in_between_is_neither() {
        assert_eq!(only(find, &run((500, 800), true).run()), []);
    }
}
