//! StableHLO text: what `lowered.as_text()` of JAX, torch_xla and TorchNeuron print, with CHLO, regions and locations.

mod attributes;
mod convert;
mod ops;
mod parse;
mod syntax;
mod types;

use std::collections::BTreeMap;

use super::program::{prune, verify};
use super::roles::Naming;
use super::{ImportError, ImportOptions, Imported, Verdict, limits, summary};
use convert::Converter;
use syntax::{Module, Operation};

/// Reads StableHLO text.
///
/// # Errors
/// When the text is cut off or no StableHLO, when operations contradict each other, or when a NeuronCore cannot do them.
pub fn read_stablehlo(source: &str, _options: &ImportOptions) -> Result<Imported, ImportError> {
    let module = parse::read_module(source)?;
    let mut ops = BTreeMap::new();
    for function in &module.functions {
        *ops.entry("func.func".to_owned()).or_insert(0) += 1;
        count(&function.body.body, &mut ops);
    }
    let mut program = prune(Converter::new(&module, source).program(module.name)?);
    verify(&program)?;
    limits::refuse_impossible(&program)?;
    let naming = naming(&module);
    let mut inspection = summary::summarise(&mut program, "mlir", producer(&module), &naming, ops);
    if module.has_pretty_locations {
        inspection.verdict = Verdict::Partial;
        let note = "locations are printed in a form that MLIR itself cannot read: export without XLA_IR_DEBUG";
        inspection.notes.push(note.to_owned());
    }
    Ok(Imported { inspection, program })
}

/// Counts operations, those in regions too.
fn count(body: &[Operation<'_>], ops: &mut BTreeMap<String, u64>) {
    for operation in body {
        *ops.entry(operation.name.clone()).or_insert(0) += 1;
        // The short form of a reduction has a region of two operations.
        if let Some(applied) =
            operation.words.iter().position(|w| *w == "applies").and_then(|i| operation.words.get(i + 1))
        {
            *ops.entry((*applied).to_owned()).or_insert(0) += 1;
            *ops.entry("stablehlo.return".to_owned()).or_insert(0) += 1;
        }
        for region in &operation.regions {
            count(&region.body, ops);
        }
    }
}

fn naming(module: &Module<'_>) -> Vec<Naming> {
    let main = module.functions.iter().find(|f| f.name == "main").or(module.functions.first());
    let arguments = main.map(|f| f.body.arguments.as_slice()).unwrap_or_default();
    let name = |a: &syntax::Argument<'_>| Naming {
        name: a.name.trim_start_matches('%').to_owned(),
        label: module.label(a.location).to_owned(),
    };
    arguments.iter().map(name).collect()
}

/// Who made a module, as its name and attributes tell.
fn producer(module: &Module<'_>) -> &'static str {
    if module.name.starts_with("IrToHlo") || module.name.starts_with("SyncTensorsGraph") {
        "torch_xla"
    } else if module.attributes.contains("mhlo.num_partitions") || module.name.starts_with("jit_") {
        "jax"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests;
