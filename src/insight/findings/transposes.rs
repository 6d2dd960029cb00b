//! The array spends a large part of its operations on transposes.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::Work;
use crate::spans::{length_ns, merge, percent};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_whole_share;

/// Share of the hardware operations above which transposes matter, percent (a rule of Neuron Explorer).
const MANY_PERCENT: f64 = 10.0;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let share = percent(u64_to_f64(c.summary.transpose_flops), u64_to_f64(c.summary.hardware_flops));
    if share <= MANY_PERCENT {
        return Vec::new();
    }
    let transposes = || c.engine_items().filter(|(_, i)| matches!(i.work, Work::Matmul { transpose: true, .. }));
    let active = length_ns(&merge(transposes().map(|(_, i)| i.time)));
    let title = format!("Transposes are {} of the array's operations.", format_whole_share(share));
    let detail = "Inputs or operands in the layout that products read (features first) need no transpose; larger \
        products make it matter less.";
    let finding = Finding::new(Rule::Transposes, Effect::Cost, active, title, detail)
        .share("transposes, of hardware flops", share)
        .count("transposing matmuls", transposes().count() as u64)
        .time("transposing matmuls active", active);
    vec![finding.longest(c.run, transposes())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;
    use ns_machine::isa::Engine;

    fn run(transposed: u64) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let (turn, dot) = (t.source("m/input", "parameter"), t.source("m/Linear/dot", "dot"));
        t.item(Engine::Tensor, (0, 60), turn, Work::Matmul { flops: transposed, passes: 1, transpose: true });
        t.item(Engine::Tensor, (60, 260), dot, Work::Matmul { flops: 1_000 - transposed, passes: 1, transpose: false });
        t
    }

    #[test]
    fn a_quarter_is_many() {
        let [found] = &only(find, &run(250).run())[..] else { panic!("one finding") };
        assert_eq!((found.time_ns, found.slices[0].path.as_str()), (60, "m/input"));
        assert!(found.title.contains("25 %"), "{}", found.title);
    }

    #[test]
    fn a_tenth_is_not() {
        assert_eq!(only(find, &run(100).run()), []);
        assert_eq!(only(find, &run(0).run()), []);
    }
}
