//! Obstacles for a model on a NeuronCore, and caveats about its times.

use super::subject::{CompiledProgram, Subject};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count};
use ns_machine::MemoryPlan;
use ns_machine::arch::CoreSpec;
use ns_machine::isa::Engine;
use ns_view::document::{Finding, Tone};

/// Findings, the worst first. `refusal` is the reason why it could not be compiled.
pub(super) fn limits(subject: &Subject, compiled: Result<&CompiledProgram, &str>) -> Vec<Finding> {
    let mut found = Vec::new();
    let core = &subject.device.costs.core;
    match compiled {
        Err(reason) => found.push(finding(Tone::Bad, "It cannot run on a NeuronCore.", reason.to_owned())),
        Ok(compiled) => {
            found.extend(memory(&compiled.executable.memory, core));
            found.extend(gpsimd(compiled));
        }
    }
    if let Some(inspection) = subject.pipeline.inspection() {
        for unknown in &inspection.unsupported {
            let title = format!("{} has no known meaning.", unknown.op);
            let text = format!(
                "{}, first at {}. Its time counts as one pass of the vector engine over its largest array; values cannot be computed.",
                times(unknown.count),
                unknown.first
            );
            found.push(finding(Tone::Bad, &title, text));
        }
    }
    for (op, (count, first)) in &subject.estimates {
        let title = format!("The time of {op} is an estimate.");
        let text =
            format!("{}, first at {first}. The compiler has no rule for it; its cost is a placeholder.", times(*count));
        found.push(finding(Tone::Warning, &title, text));
    }
    found.sort_by_key(|f| match f.tone {
        Tone::Bad => 0,
        Tone::Warning => 1,
        Tone::Neutral | Tone::Good => 2,
    });
    if found.is_empty() {
        let text = format!("The compiler has a rule for every operator, and weights and values fit {}.", core.name);
        found.push(finding(Tone::Good, "Nothing stops this model on a NeuronCore.", text));
    }
    found.extend(subject.notes.iter().map(|note| finding(Tone::Neutral, "Note:", note.clone())));
    found
}

fn finding(tone: Tone, title: &str, text: String) -> Finding {
    Finding { tone, title: title.to_owned(), text }
}

fn times(count: u64) -> String {
    if count == 1 { "It occurs once".to_owned() } else { format!("It occurs {} times", format_count(count)) }
}

/// Device memory and SBUF.
fn memory(plan: &MemoryPlan, core: &CoreSpec) -> Vec<Finding> {
    let mut found = Vec::new();
    let bytes = |n: u64| format_bytes(u64_to_f64(n));
    let needed = [plan.weight_bytes, plan.input_bytes, plan.output_bytes, plan.spill_bytes];
    let needed = needed.into_iter().fold(0, u64::saturating_add);
    if needed > core.hbm_bytes {
        let text = format!(
            "It needs {} (weights {}), but one {} has {}. Cut the model into pipeline stages, or cast its weights to bf16.",
            bytes(needed),
            bytes(plan.weight_bytes),
            core.name,
            bytes(core.hbm_bytes)
        );
        found.push(finding(Tone::Bad, "It does not fit the device memory of one core.", text));
    }
    if plan.spill_bytes > 0 {
        let text = format!(
            "{} are moved to device memory and back, because live values exceed the {} of SBUF. A smaller batch size needs less.",
            bytes(plan.spill_bytes),
            bytes(plan.sbuf_capacity_bytes)
        );
        found.push(finding(Tone::Warning, "Values do not fit SBUF.", text));
    }
    found
}

/// Work that falls back to the programmable engine.
fn gpsimd(compiled: &CompiledProgram) -> Option<Finding> {
    let stream = &compiled.executable.engines[Engine::GpSimd.index()];
    let first = stream.first().and_then(|i| compiled.executable.sources.get(i.source))?;
    let text = format!(
        "{} instructions, the first for {}. This engine is far slower than those for matrix products and elementwise work.",
        format_count(stream.len() as u64),
        first.path
    );
    Some(finding(Tone::Warning, "Part of the model falls back to the GpSimd engine.", text))
}
