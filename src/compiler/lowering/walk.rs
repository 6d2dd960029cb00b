//! The walk over the graph: which node is lowered when.

use std::collections::BTreeMap;

use crate::Workflow;
use crate::hlo::{HloModule, InstrId};
use ns_base::{IndexVec, Refusal, refuse};
use ns_model::{AtenOp, Graph, Node, NodeId};
use ns_tensor::Shape;

use super::builder::{Builder, Origin};
use super::ops;

/// One step of the walk.
enum Step {
    /// Lower a node after its operands.
    Visit(NodeId),
    /// Broadcast an operand of a node to the result's shape, right after the operand itself.
    Stretch(NodeId, usize),
    /// Lower the node itself.
    Finish(NodeId),
}

pub(super) fn lower_graph(graph: &Graph, workflow: Workflow) -> Result<HloModule, Refusal> {
    if graph.nodes.get(graph.output).is_none() {
        return Err(refuse!(
            "the result is node {node} of {nodes}: the graph is damaged, trace the model again",
            node = graph.output.0,
            nodes = graph.nodes.len()
        ));
    }
    let mut walk = Walk {
        graph,
        builder: Builder::default(),
        started: graph.nodes.iter().map(|_| false).collect(),
        lowered: graph.nodes.iter().map(|_| None).collect(),
        stretched: BTreeMap::new(),
    };
    // The walk from the result would compute all gradients of activations before the first gradient of a weight; as traced, what a
    // gradient reads is free once it is computed.
    if !graph.nodes.iter().any(|node| matches!(node.op, AtenOp::Assign { .. })) {
        walk.run(graph.output)?;
    }
    for id in graph.nodes.ids() {
        walk.run(id)?;
    }
    let root = walk.lowered(graph.output, graph.output)?;
    let instructions = walk.builder.instructions;
    let name = match workflow {
        // XLA numbers a computation after its instructions, from one.
        Workflow::MarkStep => format!("SyncTensorsGraph.{}", instructions.len() + 1),
        Workflow::Trace => graph.name.clone(),
    };
    Ok(HloModule { name, workflow, instructions, root })
}

struct Walk<'g> {
    graph: &'g Graph,
    builder: Builder,
    started: IndexVec<NodeId, bool>,
    lowered: IndexVec<NodeId, Option<InstrId>>,
    /// Operands that were broadcast for one use, by user and operand number.
    stretched: BTreeMap<(NodeId, usize), InstrId>,
}

impl Walk<'_> {
    /// Lowers a node and all it needs, with an explicit stack: a chain of a thousand products must not recurse.
    fn run(&mut self, root: NodeId) -> Result<(), Refusal> {
        let mut stack = vec![Step::Visit(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Visit(id) => {
                    if !std::mem::replace(&mut self.started[id], true) {
                        stack.push(Step::Finish(id));
                        self.push_operands(id, &mut stack)?;
                    }
                }
                Step::Stretch(id, operand) => {
                    let node = &self.graph.nodes[id];
                    let from = self.lowered(id, node.inputs[operand])?;
                    let op = node.op.profile_name();
                    let origin = Origin { op: &op, scope: &node.scope };
                    let to = ops::stretch(&mut self.builder, from, &node.shape, origin);
                    self.stretched.insert((id, operand), to);
                }
                Step::Finish(id) => {
                    let node = &self.graph.nodes[id];
                    let operands = self.operands(id, node)?;
                    self.lowered[id] = Some(ops::lower_node(&mut self.builder, node, &operands)?);
                }
            }
        }
        Ok(())
    }

    /// Pushes the operands so that the last one is visited first.
    fn push_operands(&self, id: NodeId, stack: &mut Vec<Step>) -> Result<(), Refusal> {
        let node = &self.graph.nodes[id];
        for (i, &input) in node.inputs.iter().enumerate() {
            let earlier = input < id && self.graph.nodes.get(input).is_some();
            if !earlier {
                return Err(not_before(node));
            }
            if needs_stretch(node, i, &self.graph.nodes[input].shape) {
                stack.push(Step::Stretch(id, i));
            }
            stack.push(Step::Visit(input));
        }
        Ok(())
    }

    fn operands(&self, id: NodeId, node: &Node) -> Result<Vec<InstrId>, Refusal> {
        let operand = |(i, &input): (usize, &NodeId)| match self.stretched.get(&(id, i)) {
            Some(&stretched) => Ok(stretched),
            None => self.lowered(id, input),
        };
        node.inputs.iter().enumerate().map(operand).collect()
    }

    fn lowered(&self, user: NodeId, id: NodeId) -> Result<InstrId, Refusal> {
        let found = self.lowered.get(id).copied().flatten();
        found.ok_or_else(|| not_before(&self.graph.nodes[user]))
    }
}

fn not_before(node: &Node) -> Refusal {
    refuse!("{} reads a value that is not computed before it: the graph is damaged, trace the model again", node.path())
}

/// Whether an operand must first be broadcast to the result's dimensions.
fn needs_stretch(node: &Node, operand: usize, shape: &Shape) -> bool {
    match node.op {
        AtenOp::Addmm => operand == 2,
        AtenOp::Binary(_) => shape.dims != node.shape.dims,
        _ => false,
    }
}
