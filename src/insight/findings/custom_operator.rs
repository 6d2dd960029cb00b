//! A custom operator takes most of the time.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::Work;
use crate::spans::{length_ns, merged};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_share};

/// Share of the device window above which custom operators dominate, percent. Chosen: "dominate" means more than
/// half; no document gives a threshold.
const MOST_PERCENT: f64 = 50.0;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let custom = || c.engine_items().filter(|(_, i)| matches!(i.work, Work::Custom));
    let active = length_ns(&merged(custom().map(|(_, i)| i.time)));
    let share = c.share(active);
    if share <= MOST_PERCENT {
        return Vec::new();
    }
    let calls = custom().count() as u64;
    let title = format!(
        "Custom operators take {} of the device window ({}) on the GpSimd engine, in {calls} calls.",
        format_ns(u64_to_f64(active)),
        format_share(share)
    );
    let detail = "Reading and writing device memory element by element is slow: copy blocks to the processors' local \
        memory (TCM) and work there, on all eight processors.";
    let finding = Finding::new(Rule::CustomOperatorDominates, Effect::Cost, active, title, detail)
        .time("custom operators active", active)
        .share("custom operators, of the device window", share)
        .count("calls", calls);
    vec![finding.longest(c.run, custom())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;
    use ns_machine::isa::Engine;

    fn run(custom_ns: i64) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let (relu, dot) = (t.source("m/Relu/custom", "custom-call"), t.source("m/Linear/dot", "dot"));
        t.item(Engine::GpSimd, (0, custom_ns), relu, Work::Custom);
        t.item(Engine::Tensor, (custom_ns, 1_000), dot, Work::Matmul { flops: 1, passes: 1, transpose: false });
        t
    }

    #[test]
    fn most_of_the_time_is_named_with_its_operator() {
        let [found] = &only(find, &run(800).run())[..] else { panic!("one finding") };
        assert_eq!((found.time_ns, found.slices[0].path.as_str()), (800, "m/Relu/custom"));
        assert!(found.title.contains("80.0 %"), "{}", found.title);
    }

    #[test]
    fn less_than_half_is_not_said() {
        assert_eq!(only(find, &run(400).run()), []);
    }
}
