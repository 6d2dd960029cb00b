//! Inputs are moved within device memory as part of the step, as lazily executed graphs do.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::Role;
use crate::spans::{length_ns, merge};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_ns};

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let moved = |role: Role| c.transfers().filter(move |(_, _, t)| t.role == role);
    let inputs = || moved(Role::StagedInput);
    let count = inputs().count() as u64;
    if count == 0 {
        return Vec::new();
    }
    let bytes: u64 = inputs().map(|(_, _, t)| t.bytes).sum();
    let exposed = c.exposed_ns(inputs().map(|(_, i, _)| i));
    let active = length_ns(&merge(inputs().map(|(_, i, _)| i.time)));
    let results = length_ns(&merge(moved(Role::StagedOutput).map(|(_, i, _)| i.time)));
    let title = format!(
        "Inputs ({}) are transferred as part of the step: {} before they can be read.",
        format_bytes(u64_to_f64(bytes)),
        format_ns(u64_to_f64(active))
    );
    let detail = "A step that mark_step() cuts moves its inputs to where the graph reads them, and results back. A traced \
        model (torch_neuronx.trace) reads them where they are.";
    let finding = Finding::new(Rule::InputsInStep, Effect::Cost, exposed, title, detail)
        .count("inputs moved", count)
        .bytes("bytes moved", u64_to_f64(bytes))
        .time("moving inputs", active)
        .time("moving inputs and no engine active", exposed)
        .time("moving results", results);
    vec![finding.longest(c.run, inputs().map(|(u, i, _)| (u, i)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Work;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};
    use ns_machine::isa::Engine;

    #[test]
    fn what_the_step_moves_is_said_and_what_it_loads_is_not() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/input", "parameter");
        t.queue("q", (300, 400), s, dma(Role::Input, 64, 4));
        assert_eq!(only(find, &t.run()), []);
        t.queue("q", (0, 200), s, dma(Role::StagedInput, 64, 128));
        t.queue("q", (500, 550), s, dma(Role::StagedOutput, 64, 128));
        t.item(Engine::GpSimd, (0, 50), s, Work::Constant);
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert!(found.title.contains("64 B") && found.title.contains("200 ns"), "{}", found.title);
        assert_eq!((found.time_ns, found.slices[0].start_ns), (150, 0));
        assert_eq!(found.evidence.last().map(|e| e.text()), Some("50 ns".to_owned()));
    }
}
