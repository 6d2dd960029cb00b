//! XLA's HLO, which torch_xla and torch_neuronx compile and keep in caches, and which JAX and TensorFlow dump.
//!
//! Text (of any dialect) and protocol buffers are read into the same instructions as written ([`raw`]), which become a program
//! ([`assemble`]). Instructions that the result does not depend on are left out: a fifth to a half of those that torch_xla writes.

mod assemble;
mod ops;
mod proto;
mod proto_literal;
mod proto_settings;
mod raw;
mod text;
mod text_settings;
mod text_types;

use super::{limits, summary};
use ns_container::gzip;
use ns_program::file::gunzip;
use ns_program::{ImportError, ImportOptions, ImportedModel, Verdict, verify};
use raw::RawModule;

/// What to do about instructions that contradict each other.
const EXPORT_AGAIN: &str = "export the module again; the file was changed or is damaged";

pub(super) use ops::{comparison, operators};

/// Reads an `HloModuleProto` or an `HloProto`, with or without gzip. Fails when the bytes are truncated or not one of these
/// messages, when instructions contradict each other, or when a NeuronCore cannot run them.
pub fn read_hlo_proto(bytes: &[u8], options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    if !gzip::is_gzip(bytes) {
        return import(&proto::read_module(bytes)?, "hlo", options);
    }
    import(&proto::read_module(&gunzip(&bytes.to_vec())?)?, "hlo", options)
}

/// Reads HLO text of any dialect. Fails when the text is truncated or not HLO, when instructions contradict each other, or when a
/// NeuronCore cannot run them.
pub fn read_hlo_text(source: &str, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    import(&text::read_module(source)?, "hlo-text", options)
}

fn import(module: &RawModule, format: &str, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let assembled = assemble::assemble(module)?;
    let mut program = assembled.program;
    verify(&program)?;
    if !options.display_only {
        limits::refuse_impossible(&program)?;
    }
    let producer = producer(&module.name);
    let mut inspection = summary::summarise(&mut program, format, producer, &assembled.naming, assembled.ops);
    if module.is_scheduled || assembled.is_fused {
        inspection.verdict = Verdict::Partial;
        let note = "the module was optimised for a backend: fusions, layouts and calls of that backend; dump it before optimisation";
        inspection.notes.push(note.to_owned());
    }
    Ok(ImportedModel { inspection, program })
}

/// Prefixes of the module names that frameworks choose.
const NAMES: [(&str, &str); 9] = [
    ("IrToHlo", "torch_xla"),
    ("PyLoweringContext", "torch_xla"),
    ("SyncTensorsGraph", "torch_xla"),
    ("ScheduleSyncTensorsGraph", "torch_xla"),
    ("jit_", "jax"),
    ("pjit_", "jax"),
    ("pmap_", "jax"),
    ("a_inference_", "tensorflow"),
    ("cluster_", "tensorflow"),
];

/// The producer of a module, by its name.
fn producer(name: &str) -> &'static str {
    NAMES.iter().find(|(start, _)| name.starts_with(start)).map_or("", |(_, producer)| producer)
}

#[cfg(test)]
mod tests;
