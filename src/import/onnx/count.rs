//! What is counted over the nodes of a file as it is, before anything is translated.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::messages::{AttributeValue, Graph, Model, Node, Tensor};
use super::super::program::ElementType;
use super::ops::full_name;
use super::scope;

/// How often each operator occurs in the main graph and in graphs of its nodes.
pub(super) fn operators(graph: &Graph) -> BTreeMap<String, u64> {
    let mut counts: FxHashMap<String, u64> = FxHashMap::default();
    each_node(graph, &mut |node| *counts.entry(full_name(node)).or_default() += 1);
    counts.into_iter().collect()
}

/// Calls `each` for the nodes of a graph and of the graphs in them.
fn each_node<'g>(graph: &'g Graph, each: &mut impl FnMut(&'g Node)) {
    for node in &graph.nodes {
        each(node);
        for attribute in &node.attributes {
            match &attribute.value {
                AttributeValue::Graph(inner) => each_node(inner, each),
                AttributeValue::Graphs(all) => all.iter().for_each(|inner| each_node(inner, each)),
                _ => {}
            }
        }
    }
}

/// A name without what exporters spell in different ways: dots and slashes are underscores.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Plain names of floating point initialisers that are buffers, not weights: running statistics of batch normalisation, scales and
/// zero points of quantised values, and what PyTorch's exporter calls a buffer.
pub(super) fn buffers(model: &Model) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    let mut look = |node: &Node| {
        let operands: &[usize] = match node.op.as_str() {
            "BatchNormalization" => &[3, 4],
            "DequantizeLinear" | "QuantizeLinear" | "DynamicQuantizeLinear" => &[1, 2],
            "MatMulInteger" | "ConvInteger" => &[2, 3],
            "QLinearMatMul" | "QLinearConv" => &[1, 2, 4, 5, 6, 7],
            "Resize" | "Upsample" => &[1, 2],
            "Pad" | "Clip" | "Range" | "OneHot" => &[1, 2],
            _ => &[],
        };
        found.extend(operands.iter().filter_map(|&at| node.inputs.get(at)).map(|name| plain(name)));
        found.extend(scope::buffers(node).map(str::to_owned));
    };
    each_node(&model.graph, &mut look);
    model.functions.iter().flat_map(|f| &f.nodes).for_each(look);
    found.remove("");
    found
}

/// Whether an initialiser that is no known buffer is a weight that was trained. Exporters do not say: floating point arrays are,
/// and small whole numbers as quantised weights have, but not single numbers, unless their name says so.
pub(super) fn is_trained(name: &str, tensor: &Tensor) -> bool {
    let is_single = tensor.ty.elements() == Some(1);
    let is_named = name.ends_with("weight") || name.ends_with("bias");
    let has_kind = match tensor.ty.element {
        ElementType::S8 | ElementType::U8 | ElementType::S4 | ElementType::U4 => !name.ends_with("zero_point"),
        element => element.is_float(),
    };
    has_kind && !tensor.ty.dims.is_empty() && (!is_single || is_named)
}
