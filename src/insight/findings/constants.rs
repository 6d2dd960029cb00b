//! Constants that are set in memory before any arithmetic, for an operation that reads them later: a ReLU's zeros.

use super::context::Context;
use super::{Effect, Finding, Rule, SliceRange};
use crate::Work;
use crate::run::{Item, UnitRun};
use ns_base::FxHashMap;
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_ns;
use ns_machine::isa::Activity;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let executed = || c.engine_items().filter(|(_, i)| i.activity == Activity::Execution);
    let Some(first) = executed().map(|(_, i)| i.time.start).min() else { return Vec::new() };
    let mut first_use: FxHashMap<&str, i64> = FxHashMap::default();
    for (_, item) in executed() {
        // A fusion does the work of its members.
        let source = c.run.source(item);
        for path in source.iter().flat_map(|s| s.members.iter().map(|m| &m.path).chain(std::iter::once(&s.path))) {
            let start = first_use.entry(path).or_insert(item.time.start);
            *start = item.time.start.min(*start);
        }
    }
    let mut early: Vec<(u64, &UnitRun, &Item)> = c
        .engine_items()
        .filter(|(_, i)| matches!(i.work, Work::Constant) && i.time.end <= first)
        .filter_map(|(u, i)| Some(((first_use.get(c.run.path(i))? - i.time.end).unsigned_abs(), u, i)))
        .collect();
    early.order_by_key(|(lead, _, i)| (std::cmp::Reverse(*lead), i.time.start));
    let Some((lead, _, item)) = early.first().copied() else { return Vec::new() };
    let (path, others) = (c.run.path(item), early.len() - 1);
    let and_others = if others == 0 { String::new() } else { format!(" (and {others} more)") };
    let title =
        format!("A constant of {path} is set in memory {} before it is read{and_others}.", format_ns(u64_to_f64(lead)));
    let detail = "An operation that appears this early in Data Transfer was lowered to one that reads a constant, as ReLU to \
        max(x, 0): its values are written ahead, while the engines have nothing else to do.";
    let finding = Finding::new(Rule::ConstantsSetEarly, Effect::Note, lead, title, detail)
        .count("constants", early.len() as u64)
        .time("from constant to first use", lead)
        .time("setting it", (item.time.end - item.time.start).unsigned_abs());
    vec![finding.showing(early.iter().map(|(_, u, i)| SliceRange::of(c.run, u, i)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;
    use ns_machine::SourceMember;
    use ns_machine::isa::Engine;

    fn run(constant_ns: i64) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let zeros = t.source("m/ReLU/maximum", "maximum");
        let fused = t.source("m/Add/add", "add");
        let member = |path: &str, share_ppm| SourceMember { path: path.to_owned(), hlo_text: String::new(), share_ppm };
        t.sources[fused].members = vec![member("m/ReLU/maximum", 500_000), member("m/Add/add", 500_000)];
        t.item(Engine::GpSimd, (constant_ns, constant_ns + 46), zeros, Work::Constant);
        t.item(Engine::Tensor, (300, 400), fused, Work::Matmul { flops: 1, passes: 1, transpose: false });
        t
    }

    #[test]
    fn zeros_at_the_start_are_explained() {
        let [found] = &only(find, &run(0).run())[..] else { panic!("one finding") };
        assert_eq!((found.time_ns, found.effect), (254, Effect::Note));
        assert!(
            found.title.starts_with("A constant of m/ReLU/maximum is set in memory 254 ns before"),
            "{}",
            found.title
        );
        assert_eq!((found.slices[0].row.as_str(), found.slices[0].end_ns), ("GpSimd", 46));
    }

    #[test]
    fn zeros_set_when_arithmetic_runs_are_not_early() {
        assert_eq!(only(find, &run(290).run()), []);
    }
}
