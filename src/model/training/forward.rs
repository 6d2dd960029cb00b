//! The forward pass of a training step: the traced graph again, with norms as they are computed in training. Each op is noted
//! for the walk back.

use ns_base::{IndexVec, Refusal, refuse};
use ns_machine::Phase;
use ns_tensor::Shape;

use super::norms::{self, Statistics};
use super::tape::Tape;
use crate::{AtenOp, Graph, NodeId};

/// An op of the forward pass.
pub(super) struct Step {
    pub op: AtenOp,
    pub inputs: Vec<NodeId>,
    pub output: NodeId,
    /// The module in which it was called, below the model: `/Linear[layer1]`.
    pub module: String,
    pub statistics: Option<Statistics>,
}

/// The forward pass so far.
pub(super) struct Forward {
    pub tape: Tape,
    pub steps: Vec<Step>,
    /// The model's class.
    pub class: String,
    /// New values of buffers that the forward pass itself moves: path and value.
    pub buffers: Vec<(String, NodeId)>,
    module: String,
}

impl Forward {
    /// Replays a traced graph; returns the new id of each of its nodes.
    pub fn of(graph: &Graph) -> Result<(Self, IndexVec<NodeId, NodeId>), Refusal> {
        let (tape, steps, buffers, module) = (Tape::default(), Vec::new(), Vec::new(), String::new());
        let mut forward = Self { tape, steps, class: graph.name.clone(), buffers, module };
        let mut placed: IndexVec<NodeId, NodeId> = IndexVec::new();
        for node in graph.nodes.iter() {
            let module = node.scope.split_once('/').map_or_else(String::new, |(_, rest)| format!("/{rest}"));
            forward.enter(&module);
            let inputs: Vec<NodeId> = node.inputs.iter().map(|input| placed[*input]).collect();
            let id = match &node.op {
                AtenOp::Input(_) | AtenOp::Weight { .. } => {
                    forward.tape.source(node.op.clone(), inputs, node.shape.clone())
                }
                // The results of the model are read one by one by the loss.
                AtenOp::Tuple => inputs.first().copied().ok_or_else(|| {
                    refuse!("{} has no results: the graph is damaged, trace the model again", node.path())
                })?,
                op @ (AtenOp::BatchNorm { .. } | AtenOp::LayerNorm { .. }) => forward.norm(op, &inputs)?,
                op => forward.op_as(op.clone(), &inputs, Some(&node.shape))?,
            };
            placed.push(id);
        }
        Ok((forward, placed))
    }

    /// Calls the next ops in this module, named as the path below the model.
    pub fn enter(&mut self, module: &str) {
        module.clone_into(&mut self.module);
        self.tape.scope = Phase::Forward.scope(&self.class) + module;
    }

    /// Appends an op and notes it.
    pub fn op(&mut self, op: AtenOp, inputs: &[NodeId]) -> Result<NodeId, Refusal> {
        self.op_as(op, inputs, None)
    }

    /// Appends an op whose result has a shape of its own, and notes it.
    pub fn op_as(&mut self, op: AtenOp, inputs: &[NodeId], wanted: Option<&Shape>) -> Result<NodeId, Refusal> {
        let output = self.tape.op_as(op.clone(), inputs, wanted)?;
        self.note(op, inputs, output, None);
        Ok(output)
    }

    fn note(&mut self, op: AtenOp, inputs: &[NodeId], output: NodeId, statistics: Option<Statistics>) {
        let module = self.module.clone();
        self.steps.push(Step { op, inputs: inputs.to_vec(), output, module, statistics });
    }

    /// Appends a norm with the statistics of the batch, and notes it as one op.
    pub fn norm(&mut self, op: &AtenOp, inputs: &[NodeId]) -> Result<NodeId, Refusal> {
        let (result, statistics) = norms::forward(&mut self.tape, op, inputs)?;
        if let &[x, _, _, mean, variance] = inputs {
            let new = norms::running(&mut self.tape, statistics, x, [mean, variance])?;
            for (old, new) in [mean, variance].into_iter().zip(new) {
                if let AtenOp::Weight { path, .. } = &self.tape.nodes[old].op {
                    self.buffers.push((path.clone(), new));
                }
            }
        }
        self.note(op.clone(), inputs, result, Some(statistics));
        Ok(result)
    }

    /// A parameter of the loss itself, of the module being called.
    pub fn weight(&mut self, op: AtenOp, shape: Shape) -> NodeId {
        self.tape.source(op, Vec::new(), shape)
    }
}
