//! The graph under construction, with the functions of aten that the rules are written in.

use ns_base::convert::usize_to_u32;
use ns_base::{IndexVec, Refusal};
use ns_tensor::Shape;
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use crate::infer::infer;
use crate::{AtenOp, Node, NodeId};

/// Nodes so far, and the scope in which the next one is called.
#[derive(Default)]
pub(super) struct Tape {
    pub nodes: IndexVec<NodeId, Node>,
    pub scope: String,
}

impl Tape {
    /// Appends an op; its shape follows from its operands. Fails when the operands do not fit.
    pub fn op(&mut self, op: AtenOp, inputs: &[NodeId]) -> Result<NodeId, Refusal> {
        self.op_as(op, inputs, None)
    }

    /// Appends an op whose result has a shape of its own: a view, a constant, repeated dimensions. Fails when the operands do not
    /// fit.
    pub fn op_as(&mut self, op: AtenOp, inputs: &[NodeId], wanted: Option<&Shape>) -> Result<NodeId, Refusal> {
        let shapes: Vec<&Shape> = inputs.iter().map(|id| &self.nodes[*id].shape).collect();
        let shape = infer(&op, &shapes, wanted).map_err(|problem| problem.at(op.name(), &self.scope))?;
        Ok(self.source(op, inputs.to_vec(), shape))
    }

    /// Appends a node whose shape is known: an input, a weight.
    pub fn source(&mut self, op: AtenOp, inputs: Vec<NodeId>, shape: Shape) -> NodeId {
        self.nodes.push(Node { op, inputs, shape, scope: self.scope.clone() })
    }

    pub fn shape(&self, id: NodeId) -> Shape {
        self.nodes[id].shape.clone()
    }

    pub fn dims(&self, id: NodeId) -> &[u64] {
        &self.nodes[id].shape.dims
    }

    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> Result<NodeId, Refusal> {
        self.op(AtenOp::Unary(op), &[x])
    }

    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Result<NodeId, Refusal> {
        self.op(AtenOp::Binary(op), &[a, b])
    }

    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, Refusal> {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, Refusal> {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, Refusal> {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// A tensor and a number: `x * 2`.
    pub fn scalar(&mut self, op: BinaryOp, x: NodeId, value: f32) -> Result<NodeId, Refusal> {
        self.op(AtenOp::Scalar { op, value, reversed: false }, &[x])
    }

    pub fn scale(&mut self, x: NodeId, factor: f32) -> Result<NodeId, Refusal> {
        self.scalar(BinaryOp::Mul, x, factor)
    }

    /// A number and a tensor: `1 - x`.
    pub fn reversed(&mut self, op: BinaryOp, value: f32, x: NodeId) -> Result<NodeId, Refusal> {
        self.op(AtenOp::Scalar { op, value, reversed: true }, &[x])
    }

    /// The same elements with other dimensions; nothing where they are the same.
    pub fn view(&mut self, x: NodeId, dims: &[u64]) -> Result<NodeId, Refusal> {
        if self.dims(x) == dims {
            return Ok(x);
        }
        let wanted = Shape::new(self.nodes[x].shape.dtype, dims);
        self.op_as(AtenOp::View, &[x], Some(&wanted))
    }

    pub fn permute(&mut self, x: NodeId, dims: &[u32]) -> Result<NodeId, Refusal> {
        self.op(AtenOp::Permute { dims: dims.to_vec() }, &[x])
    }

    /// Exchanges the last two dimensions.
    pub fn turned(&mut self, x: NodeId) -> Result<NodeId, Refusal> {
        let rank = self.dims(x).len();
        let mut dims: Vec<u32> = (0..usize_to_u32(rank)).collect();
        if rank > 1 {
            dims.swap(rank - 2, rank - 1);
        }
        self.permute(x, &dims)
    }

    pub fn sum(&mut self, x: NodeId, dims: &[u32], keepdim: bool) -> Result<NodeId, Refusal> {
        self.op(AtenOp::SumDims { dims: dims.to_vec(), keepdim }, &[x])
    }

    pub fn mean(&mut self, x: NodeId, dims: &[u32]) -> Result<NodeId, Refusal> {
        self.op(AtenOp::MeanDims { dims: dims.to_vec(), keepdim: true }, &[x])
    }

    pub fn expand(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId, Refusal> {
        if self.nodes[x].shape == *shape { Ok(x) } else { self.op_as(AtenOp::Expand, &[x], Some(shape)) }
    }

    /// Sums what broadcasting repeated, so that `x` has these dimensions.
    pub fn reduced_to(&mut self, x: NodeId, dims: &[u64]) -> Result<NodeId, Refusal> {
        let from = self.dims(x).to_vec();
        let lead = from.len().saturating_sub(dims.len());
        let repeated = |i: &usize| *i < lead || (dims[*i - lead] == 1 && from[*i] != 1);
        let lost: Vec<u32> = (0..from.len()).filter(repeated).map(usize_to_u32).collect();
        let x = if lost.is_empty() { x } else { self.sum(x, &lost, false)? };
        self.view(x, dims)
    }
}
