//! The framework's graph: aten ops, each with the module scope in which it was called.

use std::collections::BTreeMap;

use ns_base::IndexVec;
use ns_base::define_idx;
use ns_tensor::Shape;

use super::{AtenOp, Init};

define_idx! {
    /// A node of one [`Graph`].
    pub struct NodeId;
}

/// One op.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub op: AtenOp,
    /// Its operands, in the op's order. All come before this node in the graph.
    pub inputs: Vec<NodeId>,
    /// The shape of its result.
    pub shape: Shape,
    /// The path of the module in which it was called: `NN[model]/Linear[layer1]`.
    pub scope: String,
}

impl Node {
    /// The full path, as profiles show it: `NN[model]/Linear[layer1]/aten__addmm`.
    pub fn path(&self) -> String {
        match &self.op {
            AtenOp::Input(0) => format!("{}/input", self.scope),
            AtenOp::Input(n) => format!("{}/input.{n}", self.scope),
            AtenOp::Weight { path, .. } => format!("{}/{}", self.scope, path.rsplit('.').next().unwrap_or(path)),
            op => format!("{}/{}", self.scope, op.profile_name()),
        }
    }
}

/// A weight that a graph reads.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightInfo {
    pub shape: Shape,
    /// How it is initialised.
    pub init: Init,
    /// Whether it is a buffer rather than a parameter.
    pub buffer: bool,
}

/// A traced model. Nodes are in the order in which they were called.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The model's class, `NN`.
    pub name: String,
    /// All nodes, including those whose results nothing reads.
    pub nodes: IndexVec<NodeId, Node>,
    /// The example inputs, in order.
    pub inputs: Vec<NodeId>,
    pub output: NodeId,
}

impl Graph {
    /// The weights that the graph reads, by path.
    pub fn weights(&self) -> BTreeMap<String, WeightInfo> {
        self.nodes
            .iter()
            .filter_map(|n| match &n.op {
                AtenOp::Weight { path, init, buffer } => {
                    Some((path.clone(), WeightInfo { shape: n.shape.clone(), init: *init, buffer: *buffer }))
                }
                _ => None,
            })
            .collect()
    }

    /// Ops that compute something: all nodes except inputs and weights.
    pub fn recorded_ops(&self) -> u64 {
        self.nodes.iter().filter(|n| !matches!(n.op, AtenOp::Input(_) | AtenOp::Weight { .. })).count() as u64
    }

    /// Number of elements of all weights, each weight counted once, without buffers: PyTorch's number of parameters.
    pub fn parameter_count(&self) -> u64 {
        self.weights().values().filter(|w| !w.buffer).fold(0, |n, w| n.saturating_add(w.shape.elements()))
    }

    /// Bytes of all weights and buffers.
    pub fn weight_bytes(&self) -> u64 {
        self.weights().values().fold(0, |n, w| n.saturating_add(w.shape.bytes()))
    }

    /// Floating-point operations of matrix products and convolutions: two per multiply-accumulate, as in the
    /// microbenchmark guide's formula (`2*batch*n^3*loop_count`). Elementwise work is not counted, as in the guide.
    pub fn flops(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, node| sum.saturating_add(self.node_flops(node)))
    }

    fn node_flops(&self, node: &Node) -> u64 {
        let operand = |n: usize| node.inputs.get(n).map(|id| &self.nodes[*id].shape);
        let product = |elements: u64, depth: u64| elements.saturating_mul(depth).saturating_mul(2);
        match (&node.op, operand(0), operand(1)) {
            (AtenOp::Addmm | AtenOp::Mm | AtenOp::Matmul, Some(x), _) => {
                product(node.shape.elements(), x.dims.last().copied().unwrap_or(0))
            }
            // Each input element is multiplied by its channel's whole kernel.
            (AtenOp::Convolution { transposed: true, .. }, Some(x), Some(weight)) => {
                product(x.elements(), weight.dims.iter().skip(1).product())
            }
            (AtenOp::Convolution { .. }, _, Some(weight)) => {
                product(node.shape.elements(), weight.dims.iter().skip(1).product())
            }
            _ => 0,
        }
    }
}
