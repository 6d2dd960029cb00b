//! An embedding that is also the weight of the last product. PyTorch's older exporter stores the product's weight transposed, as a separate
//! array, and does not record that the two are one parameter.

use super::messages::{OnnxGraph, OnnxNode};
use ns_container::ByteSource;
use ns_program::{Numbers, Program, ProgramParameter, WeightData, load_parameter};

/// Most elements of an array that is compared; larger ones are assumed to be equal.
const MOST_COMPARED: u64 = 1 << 24;

/// The transposed copies of embeddings by name, with their elements.
pub(super) fn turned_embeddings(graph: &OnnxGraph, program: &Program, bytes: &dyn ByteSource) -> Vec<(String, u64)> {
    let parameter = |name: &str| program.parameters.iter().find(|p| p.name == name);
    let is_result = |node: &OnnxNode| node.outputs.iter().any(|name| graph.outputs.iter().any(|o| o.name == *name));
    let tables = || graph.nodes.iter().filter(|n| n.op == "Gather").filter_map(|n| parameter(n.inputs.first()?));
    let copy = |node: &OnnxNode| {
        let name = node.inputs.get(1).filter(|name| name.starts_with("onnx::MatMul_"))?;
        let turned = parameter(name)?;
        let is_tied = tables().any(|table| is_turned(table, turned, bytes));
        is_tied.then(|| (turned.name.clone(), turned.ty.elements().unwrap_or(0)))
    };
    graph.nodes.iter().filter(|n| n.op == "MatMul" && is_result(n)).filter_map(copy).collect()
}

/// Whether an array is a table transposed. A table has more rows than columns; if the file lacks its numbers,
/// only the sizes are compared.
fn is_turned(table: &ProgramParameter, turned: &ProgramParameter, bytes: &dyn ByteSource) -> bool {
    let ([rows, columns], [inner, outer]) = (&*table.ty.dims, &*turned.ty.dims) else { return false };
    if rows <= columns || (rows, columns) != (outer, inner) || table.ty.element != turned.ty.element {
        return false;
    }
    let is_absent = |p: &ProgramParameter| match &p.data {
        WeightData::Absent => true,
        WeightData::Beside(data) => data.source(bytes).is_err(),
        WeightData::InFile { .. } | WeightData::Inline(_) => false,
    };
    if is_absent(table) || is_absent(turned) || table.ty.elements().is_none_or(|n| n > MOST_COMPARED) {
        return is_absent(table) == is_absent(turned);
    }
    let numbers = |p| match load_parameter(bytes, p) {
        Ok(Some(value)) => Some(value.numbers),
        _ => None,
    };
    let (Some(Numbers::Real(table)), Some(Numbers::Real(turned))) = (numbers(table), numbers(turned)) else {
        return false;
    };
    let Ok(width) = usize::try_from(*columns) else { return false };
    let height = table.len() / width.max(1);
    let is_same = |(at, n): (usize, &f64)| turned.get(at % width * height + at / width).is_some_and(|m| m == n);
    table.iter().enumerate().all(is_same)
}
