//! What a `.pt2` file holds, in torch's own words.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use super::argument::Argument;
use super::flops;
use super::meta::Symbols;
use super::schema::{ExportedProgram, Graph};
use super::translate::{input_kind, scope_of};
use super::weights::Weights;
use ns_base::refuse;
use ns_program::{ImportError, Inspection, Place, Role, TensorInfo};

/// What the file holds. The verdict and the unsupported operators come from the translation. Fails when an input or an output has
/// no type.
pub fn inspect(
    exported: &ExportedProgram<'_>,
    symbols: &Symbols,
    weights: &Weights,
) -> Result<Inspection, ImportError> {
    let graph = &exported.graph_module.graph;
    let mut inspection = Inspection {
        format: "pt2".to_owned(),
        producer: producer(exported),
        open_dimensions: symbols.open.clone(),
        ..Inspection::default()
    };
    let mut seen = FxHashSet::default();
    for spec in &exported.graph_module.signature.input_specs {
        let Some(input) = input_kind(spec) else { continue };
        let Some(meta) = graph.tensor_values.get(input.value) else { continue };
        let ty = symbols.array(meta).map_err(|e| no_type(input.value, e))?;
        let elements = ty.elements().unwrap_or(0);
        match input.role {
            Role::Input => inspection.inputs.push(info(input.value, graph, symbols)?),
            Role::Weight if seen.insert(weights.get(input.path, &ty).key) => {
                inspection.parameters = inspection.parameters.saturating_add(elements);
            }
            Role::Weight => {}
            Role::Buffer => inspection.buffers = inspection.buffers.saturating_add(elements),
        }
    }
    for spec in &exported.graph_module.signature.output_specs {
        let output = spec.get("user_output").and_then(|s| s.arg.as_ref());
        if let Some(Argument::Tensor(name)) = output {
            inspection.outputs.push(info(name.get(), graph, symbols)?);
        }
    }
    let mut modules = IndexSet::new();
    count(graph, symbols, &mut inspection, &mut modules);
    inspection.modules = modules.into_iter().collect();
    for open in symbols.open.iter().filter(|d| !d.is_chosen) {
        let range = match (open.min, open.max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("{min} or more"),
            (None, Some(max)) => format!("up to {max}"),
            (None, None) => "any size".to_owned(),
        };
        let (name, used) = (&open.name, open.used);
        inspection
            .notes
            .push(format!("dimension {name} is open ({range}): {used} is used; --dim {name}=N asks for another"));
    }
    Ok(inspection)
}

/// Counts operators and operations of products, and collects module paths, including those of subgraphs.
fn count(graph: &Graph<'_>, symbols: &Symbols, inspection: &mut Inspection, modules: &mut IndexSet<String>) {
    for node in &graph.nodes {
        match inspection.ops.get_mut(node.target.get()) {
            Some(n) => *n += 1,
            None => {
                inspection.ops.insert(node.target.get().to_owned(), 1);
            }
        }
        let flops = flops::of_node(node, graph, symbols).unwrap_or(0);
        inspection.flops = inspection.flops.saturating_add(flops);
        let scope = scope_of(node);
        if !scope.is_empty() {
            modules.insert(scope);
        }
        for input in &node.inputs {
            if let Argument::Graph(inner) = &input.arg {
                count(&inner.graph, symbols, inspection, modules);
            }
        }
    }
}

/// A value of the graph.
fn info(name: &str, graph: &Graph<'_>, symbols: &Symbols) -> Result<TensorInfo, ImportError> {
    let meta = graph.tensor_values.get(name).ok_or_else(|| no_type(name, "it is not described"))?;
    let ty = symbols.array(meta).map_err(|e| no_type(name, e))?;
    let open: BTreeMap<usize, String> = symbols.open_names(meta);
    Ok(TensorInfo { name: name.to_owned(), dtype: ty.element.name().to_owned(), shape: ty.dims, open })
}

fn no_type(name: &str, why: impl std::fmt::Display) -> ImportError {
    let place = Place::Node(name.chars().take(200).collect());
    ImportError::at(place, refuse!(instead = "export the model again", "the value has no type: {why}"))
}

/// The program that wrote the file.
fn producer(exported: &ExportedProgram<'_>) -> String {
    match &exported.torch_version {
        Some(version) => format!("torch {}", version.get()),
        None => {
            let version = exported.schema_version;
            format!("torch (schema {}.{})", version.major, version.minor)
        }
    }
}
