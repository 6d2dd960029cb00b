//! StableHLO text, as `lowered.as_text()` of JAX, torch_xla and TorchNeuron print it, with CHLO, regions and locations.

mod attributes;
mod calls;
mod convert;
mod dynamic;
mod failure;
mod fitting;
mod known;
mod locations;
mod open_sizes;
mod ops;
mod parse;
mod parts;
mod regions;
mod slices;
pub(super) mod syntax;
mod types;
mod values;

pub(super) use attributes::{LONGEST_LIST, numbers_in, whole_numbers};
pub(super) use ops::operators;
pub(super) use types::{array, element};

use std::collections::BTreeMap;

use super::roles::Naming;
use super::{limits, summary};
use ns_program::{ImportError, ImportOptions, ImportedModel, Inspection, OpenDimension, Program, Verdict};
use open_sizes::{OpenSizes, PLATFORM};
use syntax::{Module, Operation};

/// Reads StableHLO text. Fails when the text is truncated or not StableHLO, when operations contradict each other, or when a
/// NeuronCore cannot run them.
pub fn read_stablehlo(source: &str, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    import(&parse::read_module(source)?, source, options)
}

/// Makes a program of a module; `source` is its text, for the places of errors.
pub(super) fn import(module: &Module<'_>, source: &str, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let mut ops = BTreeMap::new();
    if module.meshes > 0 {
        ops.insert("sdy.mesh".to_owned(), module.meshes);
    }
    for function in &module.functions {
        *ops.entry("func.func".to_owned()).or_insert(0) += 1;
        count(&function.body.body, &mut ops);
    }
    let (mut program, sizes) = fitting::program_of(module, source, options)?;
    if !options.display_only {
        limits::refuse_impossible(&program)?;
    }
    let naming = naming(module);
    let mut inspection = summary::summarise(&mut program, "mlir", producer(module), &naming, ops);
    if !sizes.dimensions.is_empty() {
        inspection.verdict = Verdict::Partial;
        name_open_dimensions(&mut inspection, &program, &sizes);
    }
    let main = module.main().map(|main| &main.body.arguments);
    if main.is_some_and(|arguments| arguments.iter().any(|a| a.constant == Some(PLATFORM))) {
        let note = "the file has code for several platforms: that of the first is read";
        inspection.notes.push(note.to_owned());
    }
    if module.has_pretty_locations {
        inspection.verdict = Verdict::Partial;
        let note = "locations are printed in a form that MLIR itself cannot read: export without XLA_IR_DEBUG";
        inspection.notes.push(note.to_owned());
    }
    Ok(ImportedModel { inspection, program })
}

/// Notes which dimensions of inputs are open and which sizes were used.
fn name_open_dimensions(inspection: &mut Inspection, program: &Program, sizes: &OpenSizes) {
    for place in &sizes.places {
        let name = program.parameters.get(sizes.parameter(place.argument)).map(|p| p.name.as_str());
        if let Some(input) = inspection.inputs.iter_mut().find(|i| Some(i.name.as_str()) == name) {
            input.open.insert(place.dimension, place.name.clone());
        }
    }
    for OpenDimension { name, used, .. } in sizes.dimensions.iter().filter(|d| !d.is_chosen) {
        inspection.notes.push(format!("the size of {name} is open: {used} was used, give another one"));
    }
    inspection.open_dimensions.clone_from(&sizes.dimensions);
}

/// Counts operations, including those in regions.
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
    let arguments = module.main().map(|f| f.body.arguments.as_slice()).unwrap_or_default();
    let name = |a: &syntax::MlirArgument<'_>| Naming {
        name: a.name.bare(),
        label: module.label(a.location).to_owned(),
        is_open: !a.ty.open.is_empty(),
    };
    arguments.iter().filter(|a| a.constant.is_none()).map(name).collect()
}

/// The producer of a module, by its name and attributes.
fn producer(module: &Module<'_>) -> &'static str {
    if module.name.starts_with("IrToHlo") || module.name.starts_with("SyncTensorsGraph") {
        "torch_xla"
    } else if module.has_partitions || module.name.starts_with("jit_") {
        "jax"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests;
