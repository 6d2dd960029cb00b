//! The whole step as one graph.

use ns_base::{Refusal, refuse};
use ns_machine::{Phase, STEP_SCOPE};

use super::backward::{Gradient, backward};
use super::forward::Forward;
use super::tape::Tape;
use super::{Optimizer, TrainingCall, accumulation, loss};
use crate::{AtenOp, Graph, InputSpec, NodeId};

/// A training step of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingStep {
    /// Its result is the loss, then the new values of parameters and buffers.
    pub graph: Graph,
    /// Inputs for the labels, after those of the model.
    pub labels: Vec<InputSpec>,
    /// Parameters that the loss depends on, with the node of their gradient.
    pub gradients: Vec<(String, NodeId)>,
}

impl TrainingStep {
    /// Elements of all gradients together: what data parallel copies reduce.
    pub fn gradient_elements(&self) -> u64 {
        self.gradients.iter().fold(0, |n, (_, id)| n.saturating_add(self.graph.nodes[*id].shape.elements()))
    }
}

/// Appends what a call does with a gradient; returns the assignments to the parameter and to the state beside it.
fn change(tape: &mut Tape, of: &Gradient, call: TrainingCall) -> Result<Vec<NodeId>, Refusal> {
    let class = call.optimizer().map_or("Gradients", Optimizer::class);
    tape.scope = Phase::Update.scope(class) + "/" + &of.path;
    match call {
        TrainingCall::MicroBatch => Ok(vec![accumulation::add_up(tape, of)?]),
        TrainingCall::Step { optimizer, micro_batches: 1 } => optimizer.update(tape, of),
        TrainingCall::Step { optimizer, micro_batches } => {
            let (mean, cleared) = accumulation::mean(tape, of, micro_batches)?;
            let mut all = optimizer.update(tape, &mean)?;
            all.push(cleared);
            Ok(all)
        }
    }
}

/// Makes a call in training of a traced forward pass. Fails when an op between a parameter and the loss has no backward rule, or
/// the model has no parameter.
pub fn training_step(graph: &Graph, call: TrainingCall) -> Result<TrainingStep, Refusal> {
    let (mut forward, placed) = Forward::of(graph)?;
    let mut inputs: Vec<NodeId> = graph.inputs.iter().map(|id| placed[*id]).collect();
    let measured = loss::append(&mut forward, graph, &placed)?;
    let gradients = backward(&mut forward, &measured.seeds)?;
    if gradients.is_empty() {
        return Err(refuse!(
            "{} has no parameter that its result depends on, so there is nothing to train; leave --training out",
            graph.name
        ));
    }
    let (mut tape, buffers) = (forward.tape, forward.buffers);
    let mut results = vec![measured.value];
    for (path, value) in buffers {
        tape.scope.clone_from(&tape.nodes[value].scope);
        results.push(tape.op(AtenOp::Assign { path }, &[value])?);
    }
    for gradient in &gradients {
        results.extend(change(&mut tape, gradient, call)?);
    }
    STEP_SCOPE.clone_into(&mut tape.scope);
    let output = tape.op(AtenOp::Tuple, &results)?;
    inputs.extend(tape.nodes.iter_enumerated().filter_map(|(id, node)| match node.op {
        AtenOp::Input(n) if n as usize >= graph.inputs.len() => Some(id),
        _ => None,
    }));
    let graph = Graph { name: graph.name.clone(), nodes: tape.nodes, inputs, output };
    let gradients = gradients.into_iter().map(|g| (g.path, g.gradient)).collect();
    Ok(TrainingStep { graph, labels: measured.labels, gradients })
}
