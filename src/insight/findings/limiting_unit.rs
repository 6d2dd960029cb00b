//! The limit of the core that costs most, and what to do about it. Until the simulations without a limit are done, the finding names the
//! unit that is busy longest.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::{Limiter, Resource};
use ns_machine::cost::Limit;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let Some((first, title)) = c.limiter.first().zip(c.limiter.sentence()) else { return Vec::new() };
    let mut finding = Finding::new(Rule::LimitingUnit, Effect::Cost, first.busy_ns, title, "")
        .share("busiest unit, of the device window", c.limiter.share(first.busy_ns));
    for unit in &c.limiter.resources {
        finding = finding.time(&format!("{} works", unit.resource.name()), unit.busy_ns);
        if unit.hidden_ns() > 0 {
            finding =
                finding.time(&format!("{} works, hidden behind longer work", unit.resource.name()), unit.hidden_ns());
        }
    }
    let finding = finding.time("no unit works", c.limiter.idle_ns);
    vec![finding.showing(first.longest.iter().cloned())]
}

impl Finding {
    /// Turns the finding of the busiest unit into that of the bound: `limit` costs `cost_ns`, and `sentence` says so.
    pub(super) fn name_bound(&mut self, limit: Limit, cost_ns: u64, sentence: String, limiter: &Limiter) {
        let unit = Resource::ALL.into_iter().find(|unit| unit.limit() == limit).and_then(|unit| limiter.unit(unit));
        self.title = sentence;
        advice(limit).clone_into(&mut self.detail);
        self.time_ns = unit.map_or(cost_ns, |unit| cost_ns.max(unit.busy_ns));
        self.saves_ns = Some(cost_ns);
        self.slices = unit.map(|unit| unit.longest.clone()).unwrap_or_default();
    }
}

/// What to do about a limit.
const fn advice(limit: Limit) -> &'static str {
    match limit {
        Limit::DmaRate => {
            "Give the engines more to do for each byte: a larger batch uses each weight more often, and weights in a \
            smaller type are fewer bytes."
        }
        Limit::DmaIssue => "Fewer and larger transfers shorten it: larger layers, or tensors laid out together.",
        Limit::Tensor => {
            "Matrix products take the time: a smaller type (bf16, fp8) or products that fill the array shorten them."
        }
        Limit::Vector => {
            "Elementwise work and reductions take the time: fused operators and values in bf16 shorten them."
        }
        Limit::Scalar => {
            "Activation functions take the time: cheaper functions, and fewer values that need one, shorten them."
        }
        Limit::GpSimd => {
            "Operators that the other engines can compute are far faster there. In a custom operator, reading and writing device memory \
            element by element is slow: copy blocks to the processors' local memory (TCM) and work there, on all eight processors."
        }
        Limit::Latency => {
            "What follows depends on what came before, so units wait for one another. More work for each call (a larger batch, several \
            calls at once) fills the gaps."
        }
        Limit::Sbuf => "Smaller batches or layers, or a lower precision, keep more values on the chip.",
        Limit::Psum => "Products whose results are read by fewer instructions leave PSUM sooner.",
        Limit::Throttle => "The clock of the tensor engine follows its use: the finding about it says how.",
        Limit::Launch => {
            "Each call pays it once: more work for each call (a larger batch, several steps in one) shares it."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRun, dma};
    use crate::{Insights, Role, Work};
    use ns_base::SimTime;
    use ns_machine::arch::NEURONCORE_V2;
    use ns_machine::cost::Gains;
    use ns_machine::isa::Engine;

    fn run(engine: (i64, i64)) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("q", (0, 600), s, dma(Role::Weight, 2, 1));
        t.queue("q", (500, 800), s, dma(Role::Output, 1, 1));
        t.item(Engine::Tensor, engine, s, Work::Matmul { flops: 2, passes: 1, transpose: false });
        t
    }

    /// The only finding, before and after the simulation without this limit, which takes half the time.
    fn findings_of(t: &TestRun, limit: Limit) -> [Finding; 2] {
        let mut insights = Insights::of(&t.run(), &NEURONCORE_V2);
        let found =
            |insights: &Insights| insights.findings.iter().find(|f| f.rule == Rule::LimitingUnit).unwrap().clone();
        let before = found(&insights);
        let without = |one| Ok::<_, ()>(SimTime::from_ns(if one == limit { 500 } else { 990 }));
        insights.set_limits(Gains::of(SimTime::from_ns(1_000), without).unwrap());
        [before, found(&insights)]
    }

    #[test]
    fn the_busiest_unit_is_named_until_the_limits_are_known() {
        for (engine, busiest, busy) in [((700, 1_000), "Data transfer", 800), ((100, 1_000), "The Tensor engine", 900)]
        {
            let [before, after] = findings_of(&run(engine), Limit::DmaRate);
            assert!(before.title.starts_with(&format!("{busiest} is busy longest")), "{}", before.title);
            assert_eq!((before.time_ns, before.saves_ns), (busy, None));
            // The simulation names the bound, also where another unit is busiest. The slices are those of the unit of the bound.
            assert!(after.title.starts_with("Bound by DMA rate: without this limit"), "{}", after.title);
            assert_eq!((after.time_ns, after.saves_ns), (800, Some(500)));
            assert_eq!((after.slices[0].start_ns, after.slices[0].end_ns), (0, 600));
        }
        let [before, _] = findings_of(&run((700, 1_000)), Limit::DmaRate);
        assert!(before.title.contains("800 ns of the device window (80.0 %), mostly for weights"), "{}", before.title);
    }

    #[test]
    fn a_limit_that_is_no_unit_has_its_remedy_and_no_slices() {
        let [_, launch] = findings_of(&run((700, 1_000)), Limit::Launch);
        assert_eq!((launch.time_ns, launch.saves_ns, launch.slices.len()), (500, Some(500), 0));
        assert!(
            launch.title.starts_with("Bound by launch") && launch.detail.contains("more work for each call"),
            "{launch:?}"
        );
    }

    #[test]
    fn custom_operators_are_named_with_their_remedy() {
        let mut t = TestRun::new(0, 1_000);
        let (relu, dot) = (t.source("m/Relu/custom", "custom-call"), t.source("m/Linear/dot", "dot"));
        t.item(Engine::GpSimd, (0, 800), relu, Work::Custom);
        t.item(Engine::Tensor, (800, 1_000), dot, Work::Matmul { flops: 1, passes: 1, transpose: false });
        let [before, after] = findings_of(&t, Limit::GpSimd);
        assert_eq!((before.time_ns, before.slices[0].path.as_str()), (800, "m/Relu/custom"));
        assert!(before.title.contains("80.0 %") && after.detail.contains("TCM"), "{after:?}");
    }

    #[test]
    fn units_that_wait_for_one_another_are_named_when_none_is_busy() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/op", "add");
        t.item(Engine::Vector, (0, 400), s, Work::Elementwise);
        t.item(Engine::Scalar, (600, 1_000), s, Work::Activate);
        let [before, after] = findings_of(&t, Limit::Latency);
        assert!(before.title.starts_with("Units wait for one another"), "{}", before.title);
        assert!(after.title.starts_with("Bound by latency"), "{}", after.title);
        assert!(after.detail.contains("fills the gaps"), "{}", after.detail);
    }
}
