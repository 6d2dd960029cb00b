//! The timeline of the median token.

use ns_base::convert::u64_to_i64;
use ns_base::{Diagnostics, Refusal};
use ns_formats::WriteFormat;
use ns_llm::{COLLECTIVE, Decoder, FITTED, Request, TokenPart, UnitWork, layer_work, median_program, token_parts};
use ns_machine::isa::DmaQueue;
use ns_profile::{Profile, ProfileBuilder};

/// The step of the median token, as a Chrome trace.
pub(super) fn token_trace(request: &Request) -> Result<String, Refusal> {
    let bytes = WriteFormat::Chrome.write(&token_profile(request)?);
    String::from_utf8(bytes).map_err(|e| Refusal::new(e.to_string()))
}

/// The step of the median token, as a profile: its layers with their segments and collectives, the host, and one layer by
/// engine and DMA queue. Fails when the cores cannot share the model so, or a segment cannot be compiled.
pub fn token_profile(request: &Request) -> Result<Profile, Refusal> {
    let mut decoder = Decoder::of_request(request, FITTED)?;
    let positions = median_program(&mut decoder, request)?;
    let parts = token_parts(&mut decoder, request.batch, positions)?;
    let opened: Vec<TokenPart> = parts.iter().filter(|part| part.layer == Some(OPENED)).copied().collect();
    let work = layer_work(&mut decoder, request.batch, positions, &opened)?;
    Ok(profile(request, &parts, &work))
}

/// The layer whose engines and queues have rows: the second, which has another before it and after it.
const OPENED: u64 = 1;

/// A row for the core and one for the host. A layer is around its segments and their collectives. Below are the engines and queues of
/// one layer; the others do the same.
fn profile(request: &Request, parts: &[TokenPart], work: &[UnitWork]) -> Profile {
    let mut builder = ProfileBuilder::new("simulated token");
    let (model, instance) = (&request.config.name, request.instance.name);
    builder.set_title(&format!("the median token of {model} on {} cores of {instance}", request.degree));
    let process = builder.process("core", &format!("Core 1 of {}", request.degree));
    let (core, host) = (builder.thread(process, "0", "NeuronCore"), builder.thread(process, "1", "Host"));
    let ns = |ps: u64| u64_to_i64(ps / 1_000);
    for of_layer in parts.chunk_by(|a, b| a.layer.is_some() && a.layer == b.layer) {
        let (Some(first), Some(last)) = (of_layer.first(), of_layer.last()) else { continue };
        let args = first.layer.map(|layer| format!("{{\"layer\":{layer}}}"));
        if args.is_some() {
            let (start, end) = (ns(first.start.0), ns((last.start + last.time).0));
            builder.slice(core, start, end - start, "layer", "layer", args.as_deref());
        }
        for part in of_layer {
            let (start, end) = (ns(part.start.0), ns((part.start + part.time).0));
            let (row, category) = match part.name {
                "host" => (host, "host"),
                COLLECTIVE => (core, "collective"),
                _ => (core, "compute"),
            };
            builder.slice(row, start, end - start, part.name, category, args.as_deref());
        }
    }
    let engines = builder.process("engines", &format!("Engines and queues in layer {OPENED}"));
    for (row, of_unit) in work.chunk_by(|a, b| a.unit == b.unit).enumerate() {
        let Some(first) = of_unit.first() else { continue };
        let thread = builder.thread(engines, &(row + 2).to_string(), first.unit);
        for stretch in of_unit {
            let (start, end) = (ns(stretch.start.0), ns((stretch.start + stretch.time).0));
            builder.slice(thread, start, end - start, &work_name(stretch), "engine", None);
        }
    }
    builder.finish(Diagnostics::new())
}

/// The operator; a transfer names the operator that it serves.
fn work_name(work: &UnitWork) -> String {
    let is_queue = DmaQueue::ALL.iter().any(|queue| queue.name() == work.unit);
    if is_queue { format!("dma for {}", work.operator) } else { work.operator.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::run::start;
    use super::*;
    use crate::studies::StudyStep;
    use ns_forms::studies::LlmStudy;
    use ns_llm::{KnownTimes, generate};
    use ns_view::colours::Kind;

    #[test]
    fn a_token_is_as_long_as_the_median_token_of_the_report() {
        let request = Request { input: 64, output: 512, ..LlmStudy::default().request().unwrap() };
        let mut decoder = Decoder::of_request(&request, FITTED).unwrap();
        let made = generate(&request, FITTED, &KnownTimes::default()).unwrap();
        assert!(made.step_ms_by_bucket.len() > 1, "{:?}", made.step_ms_by_bucket);
        let program = median_program(&mut decoder, &request).unwrap();
        let parts = token_parts(&mut decoder, request.batch, program).unwrap();
        let profile = profile(&request, &parts, &[]);
        let span_ms = (profile.span().end.0 - profile.span().start.0) as f64 / 1e6;
        assert!((span_ms - made.tpot_p50_ms).abs() < 1e-6, "{span_ms} {}", made.tpot_p50_ms);
        // 32 layers, each with two segments and two collectives; the head and the host.
        assert_eq!(profile.slices().len(), 32 * 5 + 2);
    }

    #[test]
    fn one_layer_is_opened_by_engine_and_queue() {
        let request = LlmStudy::default().request().unwrap();
        let mut decoder = Decoder::of_request(&request, FITTED).unwrap();
        let parts = token_parts(&mut decoder, request.batch, request.positions()).unwrap();
        let opened: Vec<TokenPart> = parts.iter().filter(|part| part.layer == Some(OPENED)).copied().collect();
        let work = layer_work(&mut decoder, request.batch, request.positions(), &opened).unwrap();
        let closed = profile(&request, &parts, &[]).slices().len();
        assert_eq!(profile(&request, &parts, &work).slices().len(), closed + work.len());
        // A transfer has the colour of transfers, and a product that of the tensor engine.
        let of = |unit: &'static str| work.iter().filter(move |w| w.unit == unit).map(|w| Kind::of(&work_name(w)));
        assert!(of("qSyncWeights0").all(|kind| kind == Kind::Transfer));
        assert!(of("Tensor").any(|kind| kind == Kind::Matrix));
    }

    #[test]
    fn a_study_simulates_its_request_then_batches_then_places() {
        let mut run = start(LlmStudy::default()).unwrap();
        let mut steps = 0;
        let result = loop {
            match run.step(1).unwrap() {
                StudyStep::More { done, total, .. } => {
                    steps += 1;
                    assert!(done <= total && done == steps);
                }
                StudyStep::Done(result) => break result,
            }
        };
        assert!(steps > 30, "{steps}");
        let names: Vec<&str> = result.files.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["generate.json", "token.json"]);
    }
}
