//! Elementwise operations that read one another but are separate instructions.

use super::context::Context;
use super::{Effect, Finding, Rule, SliceRange};
use crate::Work;
use crate::run::{Item, ItemRef, UnitRun};
use crate::spans::{length_ns, merge};
use ns_base::{FxHashSet, Interval, Order};
use ns_machine::SourceId;
use ns_machine::isa::Activity;

/// An elementwise operation that waits for another one.
struct Link<'a> {
    unit: &'a UnitRun,
    item: &'a Item,
    from: (&'a UnitRun, &'a Item),
}

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let links = links(c);
    let Some(first) = links.first() else { return Vec::new() };
    let sources: FxHashSet<SourceId> = links.iter().map(|l| l.item.source).collect();
    // A fusion would save the second operation's own time, since it would not write and read the value again.
    let times = |sources: &FxHashSet<SourceId>| -> Vec<Interval<i64>> {
        c.engine_items()
            .filter(|(_, i)| is_elementwise(i) && sources.contains(&i.source))
            .map(|(_, i)| i.time)
            .collect()
    };
    let active = length_ns(&merge(times(&sources).into_iter()));
    let n = sources.len();
    let title = format!(
        "{n} elementwise operation{} of {} own: {} after {} is the first.",
        if n == 1 {
            " waits for another one and is an instruction"
        } else {
            "s wait for another one and are instructions"
        },
        if n == 1 { "its" } else { "their" },
        c.run.path(first.item),
        c.run.path(first.from.1)
    );
    let detail = "Fused into one, a chain keeps its values in the engine's pipeline and pays the fixed cost of an instruction \
        once. Operations with other readers, or other shapes, are not fused.";
    let finding = Finding::new(Rule::UnfusedElementwise, Effect::Cost, active, title, detail)
        .count("operations", n as u64)
        .time("active", active);
    let slices = links.iter().flat_map(|l| [l.from, (l.unit, l.item)]);
    vec![finding.showing(slices.map(|(u, i)| SliceRange::of(c.run, u, i)))]
}

fn is_elementwise(item: &Item) -> bool {
    item.activity == Activity::Execution && matches!(item.work, Work::Elementwise | Work::Activate)
}

/// The first item of each elementwise operation that waits for an elementwise item of another operation.
fn links<'a>(c: &Context<'a>) -> Vec<Link<'a>> {
    let mut seen = FxHashSet::default();
    let mut links: Vec<Link<'a>> = c
        .engine_items()
        .filter(|(_, i)| is_elementwise(i))
        .filter_map(|(unit, item)| {
            let awaited: ItemRef = item.waited_for?;
            let from = c.run.item(awaited)?;
            let other = is_elementwise(from.1) && from.1.source != item.source;
            (other && seen.insert(item.source)).then_some(Link { unit, item, from })
        })
        .collect();
    links.order_by_key(|l| l.item.time.start);
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;
    use ns_machine::isa::Engine;

    fn run(same_operation: bool) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let dot = t.source("m/dot", "dot");
        let add = t.source("m/add", "add");
        let mul = if same_operation { add } else { t.source("m/mul", "multiply") };
        let product = t.item(Engine::Tensor, (0, 100), dot, Work::Matmul { flops: 1, passes: 1, transpose: false });
        let added = t.item(Engine::Vector, (100, 200), add, Work::Elementwise);
        let multiplied = t.item(Engine::Vector, (200, 320), mul, Work::Elementwise);
        t.waits(added, product);
        t.waits(multiplied, added);
        t
    }

    #[test]
    fn a_chain_of_two_operations_is_named() {
        let [found] = &only(find, &run(false).run())[..] else { panic!("one finding") };
        assert_eq!(found.time_ns, 120);
        assert!(found.title.contains("m/mul after m/add"), "{}", found.title);
        let shown: Vec<_> = found.slices.iter().map(|s| s.path.as_str()).collect();
        assert_eq!(shown, ["m/add", "m/mul"]);
    }

    #[test]
    fn a_fusion_is_one_operation() {
        assert_eq!(only(find, &run(true).run()), []);
    }
}
