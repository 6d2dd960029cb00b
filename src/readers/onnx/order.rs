//! An order of nodes in which operands come first. Most files have it already; some tools write nodes in any order.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::messages::{AttributeValue, OnnxGraph, OnnxNode};
use super::site::CHECK;
use super::tensors::short;
use ns_base::refuse;
use ns_program::{ImportError, Place};

/// Positions of nodes in an order in which each comes after the nodes whose values it reads; the file's order if that is possible.
/// Fails when a name is defined twice, or when nodes read each other's values in a cycle.
pub(super) fn order(nodes: &[OnnxNode]) -> Result<Vec<usize>, ImportError> {
    let mut maker: FxHashMap<&Rc<str>, usize> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        for output in node.outputs.iter().filter(|o| !o.is_empty()) {
            if maker.insert(output, at).is_some() {
                let what = refuse!(instead = CHECK, "two nodes give a value of the name {}", short(output));
                return Err(ImportError::at(place_of(node), what));
            }
        }
    }
    let mut waits: Vec<usize> = vec![0; nodes.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut is_sorted = true;
    for (at, node) in nodes.iter().enumerate() {
        let mut need = |name: &Rc<str>| {
            if let Some(&from) = maker.get(name) {
                is_sorted &= from < at;
                waits[at] += 1;
                users[from].push(at);
            }
        };
        node.inputs.iter().for_each(&mut need);
        captured(node, &mut need);
    }
    if is_sorted {
        return Ok((0..nodes.len()).collect());
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..nodes.len()).filter(|&at| waits[at] == 0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &user in &users[at] {
            waits[user] -= 1;
            if waits[user] == 0 {
                ready.insert(user);
            }
        }
    }
    match waits.iter().position(|&n| n > 0) {
        None => Ok(order),
        Some(at) => {
            let what = refuse!(instead = CHECK, "this node needs its own result: the graph has a cycle");
            Err(ImportError::at(place_of(&nodes[at]), what))
        }
    }
}

/// Names that the subgraphs of a node read. They may be more than it captures, which does not harm the order.
fn captured(node: &OnnxNode, need: &mut impl FnMut(&Rc<str>)) {
    fn inside(graph: &OnnxGraph, need: &mut impl FnMut(&Rc<str>)) {
        graph.nodes.iter().for_each(|node| {
            node.inputs.iter().for_each(&mut *need);
            captured(node, need);
        });
        graph.outputs.iter().for_each(|o| need(&o.name));
    }
    for attribute in &node.attributes {
        if let AttributeValue::Graph(graph) = &attribute.value {
            inside(graph, need);
        }
    }
}

/// The place of a node: its operator and its name, or the name of its first result.
pub(super) fn place_of(node: &OnnxNode) -> Place {
    Place::Node(format!("{} {}", short(&node.op), short(name_of(node))))
}

/// The name of a node; without one, that of its first result.
pub(super) fn name_of(node: &OnnxNode) -> &str {
    if node.name.is_empty() { node.outputs.first().map_or("", |o| o) } else { &node.name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(reads: &str, gives: &str) -> OnnxNode {
        OnnxNode {
            op: "Relu".to_owned(),
            inputs: vec![Rc::from(reads)],
            outputs: vec![Rc::from(gives)],
            ..OnnxNode::default()
        }
    }

    #[test]
    fn operands_come_first() {
        assert_eq!(order(&[node("x", "a"), node("a", "b")]), Ok(vec![0, 1]));
        assert_eq!(order(&[node("b", "c"), node("x", "a"), node("a", "b")]), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn circles_and_doubles_are_named() {
        let circle = order(&[node("b", "a"), node("a", "b")]).unwrap_err();
        assert!(circle.to_string().contains("Relu a: this node needs its own result"), "{circle}");
        let double = order(&[node("x", "a"), node("x", "a")]).unwrap_err();
        assert!(double.to_string().contains("two nodes give a value of the name a"), "{double}");
    }
}
