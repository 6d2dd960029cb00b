//! ONNX files of any exporter: PyTorch's two, tf2onnx, onnxruntime's optimisers, files made by hand.
//!
//! A file is read by slices ([`file`]): nodes and small arrays are held in memory, the numbers of large weights stay in the file. Nodes are
//! translated in order ([`importer`]), each operator by its own rules ([`ops`]). The builder infers the type of every result, so
//! the types in the file are needed only for unknown operators. Values that a graph computes from its own sizes are folded at once.
//! Functions are inlined where they are called; known conditions are resolved and known loops unrolled ([`control`]).

mod arrays;
mod control;
mod count;
mod derived;
mod elements;
mod file;
mod importer;
mod messages;
mod ops;
mod order;
mod parse;
mod scope;
mod site;
mod spans;
mod tensors;
#[cfg(test)]
mod tests;
mod tied_embedding;
mod values;
mod weights;

use std::collections::BTreeMap;

use importer::Importer;
use ns_container::ByteSource;
use ns_program::{
    ImportError, ImportOptions, ImportedModel, Inspection, OpenDimension, Program, Role, TensorInfo, Verdict,
    WeightData,
};
pub(super) use ops::operators;
use tensors::AGAIN;

use ns_base::refuse;
use ns_base::units::format_plural;

/// The newest version of ONNX's operators that is supported.
const NEWEST_OPSET: u64 = 26;

/// The oldest version of ONNX's operators that is supported.
const OLDEST_OPSET: u64 = 5;

/// Reads an ONNX model. Fails when the file is truncated or is not a model; when a node breaks the rules of its operator; when
/// sizes or control flow depend on numbers that are only known when the model runs.
pub fn read_onnx(bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let model = file::model(bytes)?;
    check_opset(&model)?;
    let mut importer = Importer::new(&model, options);
    let (inputs, results) = importer.main()?;
    let mut outputs = Vec::new();
    for (info, &id) in model.graph.outputs.iter().zip(&results) {
        let ty = importer
            .builder
            .array(id)
            .map_err(|e| refuse!(instead = "export the model with arrays as results", "{e}"))?;
        let (dtype, shape) = (ty.element.name().to_owned(), ty.dims.clone());
        outputs.push(TensorInfo { name: info.name.to_string(), dtype, shape, open: open_of(info, &importer.open) });
    }
    let unsupported: Vec<_> = importer.unsupported.into_values().collect();
    let mut inspection = Inspection {
        format: "onnx".to_owned(),
        producer: model.producer.clone(),
        verdict: if importer.is_partial { Verdict::Partial } else { Verdict::Import },
        inputs,
        outputs,
        parameters: importer.elements.0,
        buffers: importer.elements.1,
        flops: importer.flops,
        ops: count::operators(&model.graph),
        modules: importer.modules.into_iter().collect(),
        open_dimensions: importer.open,
        unsupported,
        notes: importer.notes.into_iter().collect(),
    };
    let name = if model.graph.name.is_empty() { "model" } else { &model.graph.name };
    let program = importer.builder.finish(&tensors::short(name), &results);
    let too_large = |e| refuse!(instead = "export a smaller part of the model", "{e}");
    let program = program.map_err(too_large)?;
    inspection.notes.extend(missing_numbers(&program, bytes));
    count_tied_once(&mut inspection, &tied_embedding::turned_embeddings(&model.graph, &program, bytes));
    Ok(ImportedModel { inspection, program })
}

/// What is missing of the weights' numbers, once for each reason.
fn missing_numbers(program: &Program, bytes: &dyn ByteSource) -> Vec<String> {
    let mut missing: BTreeMap<String, u64> = BTreeMap::new();
    for parameter in program.parameters.iter().filter(|p| p.role != Role::Input) {
        let why = match &parameter.data {
            WeightData::Absent => "the file does not have its numbers".to_owned(),
            WeightData::Beside(data) => match data.source(bytes) {
                Err(why) => why.to_string(),
                Ok(_) => continue,
            },
            WeightData::InFile { .. } | WeightData::Inline(_) => continue,
        };
        *missing.entry(why).or_insert(0) += 1;
    }
    let note = |(why, count): (String, u64)| {
        format!("{} without numbers (times need only shapes, values need them): {why}", format_plural(count, "weight"))
    };
    missing.into_iter().map(note).collect()
}

/// Removes transposed copies of embeddings from the count of parameters, with a note.
fn count_tied_once(inspection: &mut Inspection, copies: &[(String, u64)]) {
    for (name, elements) in copies {
        inspection.parameters = inspection.parameters.saturating_sub(*elements);
        let name = tensors::short(name);
        inspection
            .notes
            .push(format!("{name} is taken for the embedding with its dimensions exchanged: it counts once."));
    }
}

/// Open dimensions of a result, if the file gives them the names of an input's dimensions.
fn open_of(info: &messages::ValueInfo, open: &[OpenDimension]) -> BTreeMap<usize, String> {
    let is_known = |name: &String| open.iter().any(|o| o.name == *name);
    let named = |(at, dim): (usize, &messages::Dim)| match dim {
        messages::Dim::Named(name) if is_known(name) => Some((at, name.clone())),
        _ => None,
    };
    info.dims.iter().flatten().enumerate().filter_map(named).collect()
}

/// Whether the version of the operators is known.
fn check_opset(model: &messages::Model) -> Result<(), ImportError> {
    if model.graph.outputs.is_empty() {
        return Err(refuse!(instead = AGAIN, "the graph has no outputs").into());
    }
    let Some(&version) = model.opsets.get("") else { return Ok(()) };
    if (OLDEST_OPSET..=NEWEST_OPSET).contains(&version) {
        return Ok(());
    }
    Err(refuse!(
        instead = "convert it with onnx.version_converter or export it with opset_version=20",
        "the model uses operators of version {version}; versions {OLDEST_OPSET} to {NEWEST_OPSET} are known"
    )
    .into())
}
