//! The tensor engine's clock, where its utilisation holds it below the best that the core allows.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::run::Item;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_ns, format_share};
use ns_machine::cost::Throttle;
use ns_machine::isa::Engine;

/// Least share of the device window that a limit has to cost, percent.
const WORTH_NAMING_PERCENT: f64 = 2.0;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    c.run.throttle.and_then(|throttle| clock_limit(c, throttle)).into_iter().collect()
}

fn clock_limit(c: &Context<'_>, throttle: Throttle) -> Option<Finding> {
    let Throttle { light_eighths: light, dense_eighths: dense, threshold_permille, window_ns } = throttle;
    let (least, best) = (light.min(dense), light.max(dense));
    let slow_items = || c.run.clocked_items().filter(|(_, eighths)| *eighths < best);
    let time: u64 = slow_items().map(|(item, _)| time_ns(item)).sum();
    let lost: u64 =
        slow_items().map(|(item, eighths)| time_ns(item) * u64::from(best - eighths) / u64::from(best)).sum();
    if c.share(lost) < WORTH_NAMING_PERCENT {
        return None;
    }
    let (rule, remedy) = if dense < light {
        (
            format!(
                "once it used more than {} of {}",
                format_share(f64::from(threshold_permille) / 10.0),
                span(window_ns)
            ),
            "Inferentia2 limits dense products, Trainium keeps 7/8 of the clock: fewer operations shorten this time, a denser \
             schedule does not.",
        )
    } else {
        (
            format!("until it uses {} of {}", format_share(f64::from(threshold_permille) / 10.0), span(window_ns)),
            "Products that follow one another without gaps and use all rows of the array run at the full clock.",
        )
    };
    let title = format!(
        "The tensor engine is held at {least}/8 of its clock, {rule}: for {} of the device window, in which products take {} longer.",
        format_share(c.share(time)),
        format_ns(u64_to_f64(lost)),
    );
    let unit = c.run.engine(Engine::Tensor)?;
    let finding = Finding::new(Rule::ClockLimit, Effect::Cost, lost, title, remedy)
        .time("at the limited clock", time)
        .share("average limit", c.summary.throttle_avg_util_limit_percent);
    let items: Vec<_> = slow_items().map(|(item, _)| (unit, item)).collect();
    Some(finding.longest(c.run, items.into_iter()))
}

fn time_ns(item: &Item) -> u64 {
    (item.time.end - item.time.start).unsigned_abs()
}

fn span(window_ns: u64) -> String {
    format_ns(u64_to_f64(window_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Work;
    use crate::findings::only;
    use crate::run::ClockLimit;
    use crate::testing::TestRun;
    use ns_base::Interval;

    const INF2: Throttle = Throttle { light_eighths: 7, dense_eighths: 5, threshold_permille: 625, window_ns: 3_000 };

    fn findings_of(throttle: Throttle, eighths: u32) -> Vec<Finding> {
        let mut t = TestRun::new(0, 2_000);
        let s = t.source("m/mm", "dot");
        t.item(Engine::Tensor, (0, 700), s, Work::Matmul { flops: 1, passes: 1, transpose: false });
        t.item(Engine::Tensor, (1_000, 1_700), s, Work::Matmul { flops: 1, passes: 1, transpose: false });
        let mut run = t.run();
        run.throttle = Some(throttle);
        run.clock_limits = vec![ClockLimit { time: Interval::new(1_000, 1_700), eighths }];
        only(find, &run)
    }

    #[test]
    fn the_time_at_the_lower_limit_is_a_cost() {
        let [finding] = &findings_of(INF2, 5)[..] else { panic!("one finding") };
        assert_eq!((finding.effect, finding.time_ns), (Effect::Cost, 200));
        let expected = "held at 5/8 of its clock, once it used more than 62.5 % of 3.00 \u{b5}s: for 41.2 % of the device window, in which products take 200 ns longer.";
        assert!(finding.title.contains(expected), "{}", finding.title);
    }

    #[test]
    fn a_limit_that_is_always_there_is_no_finding() {
        let trn1 = Throttle { dense_eighths: 7, ..INF2 };
        assert_eq!(findings_of(trn1, 7), []);
    }

    #[test]
    fn light_work_on_the_third_generation_is_told_to_be_denser() {
        let v3 = Throttle { light_eighths: 4, dense_eighths: 8, threshold_permille: 500, window_ns: 3_000 };
        let [finding] = &findings_of(v3, 4)[..] else { panic!("one finding") };
        assert!(finding.title.contains("held at 4/8 of its clock, until it uses 50.0 % of"), "{}", finding.title);
        assert!(finding.detail.contains("without gaps"));
    }
}
