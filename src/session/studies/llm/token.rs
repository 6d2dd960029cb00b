//! The timeline of one token.

use ns_base::convert::u64_to_i64;
use ns_base::{Diagnostics, Refusal};
use ns_formats::WriteFormat;
use ns_llm::{Decoder, FITTED, Request, TokenPart, token_parts};
use ns_profile::{Profile, ProfileBuilder};

/// The step of the bucket of the whole length, as a Chrome trace.
pub(super) fn token_trace(request: &Request) -> Result<String, Refusal> {
    let mut decoder = Decoder::new(&request.config, request.instance, request.degree, request.lnc, FITTED)?;
    decoder.weights = request.weights;
    let parts = token_parts(&mut decoder, request.batch, request.positions())?;
    let bytes = WriteFormat::Chrome.write(&profile(request, &parts));
    String::from_utf8(bytes).map_err(|e| Refusal::new(e.to_string()))
}

/// A row for the layers, one for what the core does, one for what the cores exchange, one for the host.
fn profile(request: &Request, parts: &[TokenPart]) -> Profile {
    let mut builder = ProfileBuilder::new("simulated token");
    builder.set_title(&format!(
        "a token of {} on {} cores of {}",
        request.config.name, request.degree, request.instance.name
    ));
    let process = builder.process("core", &format!("Core 1 of {}", request.degree));
    let rows = ["Layers", "NeuronCore", "Collectives", "Host"];
    let [layers, core, collectives, host] =
        [0, 1, 2, 3].map(|row: usize| builder.thread(process, &row.to_string(), rows[row]));
    let ns = |ps: u64| u64_to_i64(ps / 1_000);
    for part in parts {
        let (start, end) = (ns(part.start.0), ns((part.start + part.time).0));
        let (row, category) = match part.name {
            "host" => (host, "host"),
            "all-reduce" => (collectives, "collective"),
            _ => (core, "compute"),
        };
        let args = part.layer.map(|layer| format!("{{\"layer\":{layer}}}"));
        builder.slice(row, start, end - start, part.name, category, args.as_deref());
    }
    for of_layer in parts.chunk_by(|a, b| a.layer == b.layer) {
        let (Some(first), Some(last)) = (of_layer.first(), of_layer.last()) else { continue };
        if let Some(layer) = first.layer {
            let (start, end) = (ns(first.start.0), ns((last.start + last.time).0));
            builder.slice(layers, start, end - start, &format!("layer {layer}"), "layer", None);
        }
    }
    builder.finish(Diagnostics::new())
}
