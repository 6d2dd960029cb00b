//! Values of a graph, op by op.

use ns_base::{IndexVec, Refusal, refuse};
use ns_tensor::Tensor;

use super::eager::compute;
use super::{AtenOp, Graph, Node, NodeId};

/// The value of every node. `given` has the values of inputs and weights. Fails when an input or weight has no value, or memory
/// runs out.
pub fn evaluate(graph: &Graph, given: &dyn Fn(&Node) -> Option<Tensor>) -> Result<IndexVec<NodeId, Tensor>, Refusal> {
    let mut values: IndexVec<NodeId, Tensor> = IndexVec::new();
    for node in graph.nodes.iter() {
        let value = if matches!(node.op, AtenOp::Input(_) | AtenOp::Weight { .. }) {
            given(node).ok_or_else(|| refuse!("{} has no value", node.path()))?
        } else {
            let operands: Vec<&Tensor> = node.inputs.iter().map(|id| &values[*id]).collect();
            compute(&node.op, &operands, &node.shape).map_err(|e| refuse!("{}: {e}", node.path()))?
        };
        values.push(value);
    }
    Ok(values)
}
