//! Counts over the nodes of a file, before anything is translated.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::messages::{AttributeValue, OnnxGraph, OnnxNode};
use super::ops::full_name;

/// How often each operator occurs in the main graph and in the subgraphs of its nodes.
pub(super) fn operators(graph: &OnnxGraph) -> BTreeMap<String, u64> {
    let mut counts: FxHashMap<String, u64> = FxHashMap::default();
    each_node(graph, &mut |node| *counts.entry(full_name(node)).or_default() += 1);
    counts.into_iter().collect()
}

/// Calls `each` for the nodes of a graph and of its subgraphs.
pub(super) fn each_node<'g>(graph: &'g OnnxGraph, each: &mut impl FnMut(&'g OnnxNode)) {
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
