//! The unit that limits the execution, and the work that it hides. If no unit is busy for most of the window, the rule says that the
//! units wait for one another.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::run::{Item, UnitRun};
use crate::{Resource, Work};

/// What to do when no unit works for most of the window.
const WAITS: &str = "Each unit works for less than half of the window: what follows depends on what came before. More work for each call \
    (a larger batch, several calls at once) fills the gaps.";

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let Some(first) = c.limiter.first() else { return Vec::new() };
    let limits = c.limiter.dominant().is_some();
    let Some(title) = c.limiter.sentence() else { return Vec::new() };
    // Without the limiting unit, the next one limits; without waits, the busiest unit does.
    let wait_ns = c.limiter.window_ns.saturating_sub(first.busy_ns);
    let detail = match limits {
        true => advice(c, first.resource).to_owned(),
        false => WAITS.to_owned(),
    };
    let claim_ns = if limits { first.busy_ns } else { wait_ns };
    let touched: &[Resource] = if limits { &[first.resource] } else { &[] };
    let mut finding = Finding::new(Rule::LimitingUnit, Effect::Cost, claim_ns, title, &detail);
    finding.saves_ns = Some(c.limiter.saving_ns(claim_ns, touched));
    finding = finding.share("busiest unit, of the device window", c.limiter.share(first.busy_ns));
    for unit in &c.limiter.resources {
        finding = finding.time(&format!("{} works", unit.resource.name()), unit.busy_ns);
        if unit.hidden_ns() > 0 {
            finding =
                finding.time(&format!("{} works, hidden behind longer work", unit.resource.name()), unit.hidden_ns());
        }
    }
    finding = finding.time("no unit works", c.limiter.idle_ns);
    vec![finding.longest(c.run, items_of(c, first.resource))]
}

fn items_of<'a>(c: &Context<'a>, resource: Resource) -> impl Iterator<Item = (&'a UnitRun, &'a Item)> {
    let units = c.run.units.iter().filter(move |u| Resource::of(u.engine) == resource);
    units.flat_map(|u| u.items.iter().map(move |i| (u, i)))
}

/// What to do about a unit that limits the execution.
fn advice(c: &Context<'_>, resource: Resource) -> &'static str {
    match resource {
        Resource::Dma => {
            "Give the engines more to do for each byte: a larger batch uses each weight more often, and weights in a \
            smaller type are fewer bytes."
        }
        Resource::Tensor => {
            "Matrix products take the time: a smaller type (bf16, fp8) or products that fill the array shorten them."
        }
        Resource::Vector => {
            "Elementwise work and reductions take the time: fused operators and values in bf16 shorten them."
        }
        Resource::Scalar => {
            "Activation functions take the time: cheaper functions, and fewer values that need one, shorten them."
        }
        Resource::GpSimd if c.engine_items().any(|(_, i)| matches!(i.work, Work::Custom)) => {
            "Custom operators take the time. \
            Reading and writing device memory element by element is slow: copy blocks to the processors' local memory (TCM) and \
            work there, on all eight processors."
        }
        Resource::GpSimd => {
            "The programmable engine takes the time: operators that the other engines can compute are far faster there."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use ns_machine::isa::Engine;

    fn run(engine: (i64, i64)) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("q", (0, 600), s, dma(Role::Weight, 2, 1));
        t.queue("q", (500, 800), s, dma(Role::Output, 1, 1));
        t.item(Engine::Tensor, engine, s, Work::Matmul { flops: 2, passes: 1, transpose: false });
        t
    }

    #[test]
    fn the_longest_busy_time_limits_whatever_runs_beside_it() {
        for engine in [(700, 1_000), (100, 1_000)] {
            let t = run(engine);
            let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
            let (limits, busy, other) =
                if engine.0 == 700 { ("Data transfer", 800, 300) } else { ("The Tensor engine", 900, 800) };
            assert!(found.title.starts_with(&format!("{limits} limits")), "{}", found.title);
            // Without it, the other unit is the bound.
            assert_eq!((found.time_ns, found.saves_ns), (busy, Some(1_000 - other)));
        }
        let t = run((700, 1_000));
        let found = only(find, &t.run());
        assert!(
            found[0].title.contains("800 ns of the device window (80.0 %), mostly for weights"),
            "{}",
            found[0].title
        );
        assert_eq!((found[0].slices[0].start_ns, found[0].slices[0].end_ns), (0, 600));
    }

    #[test]
    fn custom_operators_are_named_with_their_remedy() {
        let mut t = TestRun::new(0, 1_000);
        let (relu, dot) = (t.source("m/Relu/custom", "custom-call"), t.source("m/Linear/dot", "dot"));
        t.item(Engine::GpSimd, (0, 800), relu, Work::Custom);
        t.item(Engine::Tensor, (800, 1_000), dot, Work::Matmul { flops: 1, passes: 1, transpose: false });
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert_eq!((found.time_ns, found.slices[0].path.as_str()), (800, "m/Relu/custom"));
        assert!(found.title.contains("80.0 %") && found.detail.contains("TCM"), "{found:?}");
    }

    #[test]
    fn units_that_wait_for_one_another_are_the_limit_when_none_is_busy() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/op", "add");
        t.item(Engine::Vector, (0, 400), s, Work::Elementwise);
        t.item(Engine::Scalar, (600, 1_000), s, Work::Activate);
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert!(found.title.starts_with("Units wait for one another"), "{}", found.title);
        assert_eq!((found.time_ns, found.saves_ns), (600, Some(600)));
    }
}
