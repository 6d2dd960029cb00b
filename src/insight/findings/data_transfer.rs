//! Data transfer dominates: for most of the device window only DMA is active.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::spans::length_ns;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_whole_share};

/// Share of the device window above which transfers dominate, percent. Chosen: "dominate" means more than half; no
/// document gives a threshold.
const MOST_PERCENT: f64 = 50.0;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let alone = c.exposed_ns(c.transfers().map(|(_, i, _)| i));
    let share = c.share(alone);
    if share <= MOST_PERCENT {
        return Vec::new();
    }
    let title = format!(
        "Data transfer dominates: for {} of the device window ({}) DMA is active and no engine is.",
        format_ns(u64_to_f64(alone)),
        format_whole_share(share)
    );
    let detail = "Give the engines more to do for each byte (a larger batch, larger layers), keep weights on the chip, or \
        overlap transfers with compute.";
    let finding = Finding::new(Rule::DataTransferDominates, Effect::Cost, alone, title, detail)
        .time("DMA alone", alone)
        .share("DMA alone, of the device window", share)
        .time("DMA active", length_ns(&c.dma))
        .time("engines active", length_ns(&c.engines));
    vec![finding.longest(c.run, c.transfers().map(|(u, i, _)| (u, i)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::isa::Engine;

    fn run(engine: (i64, i64)) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("q", (0, 600), s, dma(Role::Weight, 1, 1));
        t.queue("q", (500, 800), s, dma(Role::Output, 1, 1));
        t.item(Engine::Tensor, engine, s, Work::Matmul { flops: 2, passes: 1, transpose: false });
        t
    }

    #[test]
    fn counts_only_what_no_engine_hides() {
        let t = run((700, 1_000));
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert_eq!(found.time_ns, 700);
        assert!(found.title.contains("700 ns") && found.title.contains("70 %"), "{}", found.title);
        assert_eq!((found.slices[0].start_ns, found.slices[0].end_ns), (0, 600));
        assert_eq!(found.slices[0].path, "m/Linear/dot");
    }

    #[test]
    fn is_silent_when_compute_hides_it() {
        assert_eq!(only(find, &run((100, 1_000)).run()), []);
    }
}
