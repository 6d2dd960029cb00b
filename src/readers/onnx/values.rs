//! Values by name: values of a graph, of the graphs around it and of called functions.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::messages::{AttributeValue, OnnxAttribute, OnnxFunction, OnnxGraph, OnnxNode, Tensor, ValueInfo};
use ns_program::InstructionId;

/// Values of a graph by name, with their context.
#[derive(Default)]
pub(super) struct Scope {
    /// Values of the graph and of the graphs around it, innermost last.
    pub values: Vec<FxHashMap<Rc<str>, InstructionId>>,
    /// Initialisers that have not been used yet.
    pub initializers: FxHashMap<Rc<str>, Rc<Tensor>>,
    /// Types from the file.
    pub types: FxHashMap<Rc<str>, ValueInfo>,
    /// Module path.
    pub path: String,
    /// Versions of operator domains.
    pub opsets: BTreeMap<String, u64>,
}

impl Scope {
    /// Binds a name to a value in the innermost graph.
    pub fn define(&mut self, name: &Rc<str>, id: InstructionId) {
        if let Some(values) = self.values.last_mut() {
            values.insert(Rc::clone(name), id);
        }
    }

    /// Adds the initialisers and types of a graph.
    pub fn enter(&mut self, graph: &OnnxGraph) {
        self.initializers.extend(graph.initializers.iter().map(|t| (Rc::clone(&t.name), Rc::clone(t))));
        let infos = graph.value_info.iter().chain(&graph.outputs);
        self.types.extend(infos.map(|info| (Rc::clone(&info.name), info.clone())));
    }
}

/// A node of a function, or of a subgraph in it, with the attributes of the call substituted. Operands that the call leaves out (`absent`) are
/// removed.
pub(super) fn resolved(
    inner: &OnnxNode,
    function: &OnnxFunction,
    call: &OnnxNode,
    absent: &FxHashSet<Rc<str>>,
) -> OnnxNode {
    let mut node = inner.clone();
    for name in &mut node.inputs {
        if absent.contains(name) {
            *name = Rc::from("");
        }
    }
    node.attributes = inner.attributes.iter().filter_map(|a| attribute(a, function, call, absent)).collect();
    node
}

/// An attribute, or the attribute of the call that it refers to; `None` if the call leaves it out.
fn attribute(
    own: &OnnxAttribute,
    function: &OnnxFunction,
    call: &OnnxNode,
    absent: &FxHashSet<Rc<str>>,
) -> Option<OnnxAttribute> {
    let value = match &own.value {
        AttributeValue::Reference(name) => {
            call.attributes.iter().chain(&function.defaults).find(|a| a.name == *name)?.value.clone()
        }
        AttributeValue::Graph(graph) => {
            let mut graph = OnnxGraph::clone(graph);
            graph.nodes = graph.nodes.iter().map(|node| resolved(node, function, call, absent)).collect();
            AttributeValue::Graph(Rc::new(graph))
        }
        other => other.clone(),
    };
    Some(OnnxAttribute { name: own.name.clone(), value })
}
