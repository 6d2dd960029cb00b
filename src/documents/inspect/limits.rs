//! Obstacles for a model on a NeuronCore, and caveats about its times.

use super::operation::Operation;
use super::subject::{CompiledProgram, Subject};
use super::times::{ExecutionTimes, path_of};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_ns, format_share};
use ns_insight::SourceTime;
use ns_machine::MemoryPlan;
use ns_machine::arch::CoreSpec;
use ns_machine::isa::Engine;
use ns_program::{UnsupportedOp, occurrence};
use ns_view::document::{Finding, Tone};

/// Share of an execution from which work on the GpSimd engine is an obstacle, percent. Chosen: without it the execution would be faster by
/// at most this much.
const GPSIMD_PERCENT: f64 = 5.0;

/// Findings, the worst first. `refusal` is the reason why it could not be compiled.
pub(super) fn limits(
    subject: &Subject,
    compiled: Result<&CompiledProgram, &str>,
    operations: &[Operation],
    times: Option<&ExecutionTimes>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let core = &subject.device.costs.core;
    match compiled {
        Err(reason) => found.push(finding(Tone::Bad, "It cannot run on a NeuronCore.", reason.to_owned())),
        Ok(compiled) => {
            found.extend(memory(&compiled.executable.memory, core));
            found.extend(times.and_then(|times| gpsimd(operations, times)));
        }
    }
    if let Some(inspection) = subject.pipeline.inspection() {
        found.extend(inspection.unsupported.iter().map(unknown));
    }
    // An operator without a known meaning is named once.
    let is_named = |op: &str| subject.pipeline.inspection().is_some_and(|i| i.unsupported.iter().any(|u| u.op == *op));
    for (op, cost) in subject.estimates.iter().filter(|(op, cost)| !cost.is_unknown || !is_named(op)) {
        let title = format!("The time of {op} is an estimate.");
        let occurs = occurrence(cost.count, &cost.first);
        let reason = match cost.is_unknown {
            true => "The compiler has no rule for it: its time is the least that it can take.",
            false => "The compiler has no rule of its own for it.",
        };
        found.push(finding(Tone::Warning, &title, format!("It occurs {occurs}. {reason}")));
    }
    found.order_by_key(|f| match f.tone {
        Tone::Bad => 0,
        Tone::Warning => 1,
        Tone::Neutral | Tone::Good => 2,
    });
    if found.is_empty() {
        let text = format!("The compiler has a rule for every operator, and weights and values fit {}.", core.name);
        found.push(finding(Tone::Good, "Nothing stops this model on a NeuronCore.", text));
    }
    let limiter = times.and_then(|times| times.limiter.as_ref());
    found.extend(limiter.map(|(sentence, hidden)| finding(Tone::Neutral, sentence, hidden.clone())));
    found.extend(subject.notes.iter().map(|note| finding(Tone::Neutral, "Note:", note.clone())));
    found
}

fn finding(tone: Tone, title: &str, text: String) -> Finding {
    Finding { tone, title: title.to_owned(), text }
}

/// An operator without a known meaning, or a use of one that is not read.
fn unknown(unknown: &UnsupportedOp) -> Finding {
    let occurs = occurrence(unknown.count, &unknown.first);
    let counts = "Its time counts as one pass of the vector engine over its largest array, unless you say another; values cannot be computed.";
    finding(Tone::Bad, &unknown.sentence(), format!("It occurs {occurs}. {counts}"))
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

/// Work that falls back to the programmable engine, where it takes a share of the time that is worth a change.
fn gpsimd(operations: &[Operation], times: &ExecutionTimes) -> Option<Finding> {
    let busy = |time: &SourceTime| time.engine_ns[Engine::GpSimd.index()];
    let busy_ns: u64 = times.of.iter().chain([&times.rest]).map(busy).sum();
    let share = u64_to_f64(busy_ns) * 100.0 / times.window_ns;
    let (operation, _) = operations.iter().zip(&times.of).rev().max_by_key(|(_, time)| busy(time))?;
    if share.is_nan() || share < GPSIMD_PERCENT {
        return None;
    }
    let text = format!(
        "It works for {} ({} of the time), most of it for {}. This engine is far slower than those for matrix products and elementwise work.",
        format_ns(u64_to_f64(busy_ns)),
        format_share(share),
        path_of(operation)
    );
    Some(finding(Tone::Warning, "Part of the model falls back to the GpSimd engine.", text))
}
