//! In which part of a training step the time goes.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::attribution::{parts_of, time_by_source};
use crate::spans::percent;
use ns_base::convert::f64_to_u64;
use ns_base::units::format_share;
use ns_machine::Phase;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let mut ns = [0.0; Phase::ALL.len()];
    for (id, time) in time_by_source(c.run).iter_enumerated() {
        let Some(source) = c.run.sources.get(id) else { continue };
        for (part, member) in parts_of(source) {
            let path = member.map_or(source.path.as_str(), |m| m.path.as_str());
            let phase = Phase::of_path(path).and_then(|phase| Phase::ALL.iter().position(|p| *p == phase));
            if let Some(sum) = phase.and_then(|at| ns.get_mut(at)) {
                *sum += (time.executing_ns + time.exposed_ns) * part;
            }
        }
    }
    let total: f64 = ns.iter().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let shares = ns.map(|part| percent(part, total));
    let words: Vec<String> = Phase::ALL
        .iter()
        .zip(shares)
        .map(|(phase, share)| format!("{} {}", phase.name(), format_share(share)))
        .collect();
    let title = format!("Of the training step\u{2019}s time: {}.", words.join(", "));
    let detail = "The time in which an operation executes, and the time in which nothing executes and data moves for it. A fusion counts \
        for its members by their parts. The parts are the scopes Training[step]/..[forward], [backward] and [update] of every table of \
        modules.";
    let finding = Finding::new(Rule::TrainingParts, Effect::Note, f64_to_u64(total), title, detail);
    vec![Phase::ALL.iter().zip(shares).fold(finding, |f, (phase, share)| f.share(phase.name(), share))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::TestRun;
    use crate::{MetricValue, Work};
    use ns_machine::isa::Engine;

    #[test]
    fn it_divides_a_training_step_and_is_silent_for_inference() {
        let mut t = TestRun::new(0, 200);
        let forward = t.source("Training[step]/NN[forward]/Linear[l]/aten__addmm_dot", "dot");
        let backward = t.source("Training[step]/NN[backward]/Linear[l]/aten__mm_dot", "dot");
        t.item(Engine::Vector, (0, 50), forward, Work::Elementwise);
        t.item(Engine::Vector, (50, 200), backward, Work::Elementwise);
        let found = only(find, &t.run());
        assert_eq!(
            found[0].title,
            "Of the training step\u{2019}s time: forward 25.0 %, backward 75.0 %, update 0.0 %."
        );
        assert_eq!(found[0].evidence[1].value, MetricValue::Real(75.0));
        let mut inference = TestRun::new(0, 50);
        let source = inference.source("NN[model]/Linear[l]/aten__addmm_dot", "dot");
        inference.item(Engine::Vector, (0, 50), source, Work::Elementwise);
        assert!(only(find, &inference.run()).is_empty());
    }
}
