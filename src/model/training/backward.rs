//! The walk back: from the gradient of the loss to the gradient of every parameter.

use std::collections::BTreeMap;

use ns_base::Order;
use ns_base::{IndexVec, Refusal};
use ns_machine::Phase;
use ns_tensor::DType;
use ns_tensor::kernels::BinaryOp;

use super::forward::{Forward, Step};
use super::rules::{Site, no_rule, rule_of};
use super::tape::Tape;
use crate::{AtenOp, NodeId};

/// A parameter with the gradient of the loss.
pub(super) struct Gradient {
    pub path: String,
    pub weight: NodeId,
    pub gradient: NodeId,
}

/// The gradients of all parameters that the loss depends on, in the order in which the walk completes them. `seeds` are values
/// of the forward pass with their gradients.
pub(super) fn backward(forward: &mut Forward, seeds: &[(NodeId, NodeId)]) -> Result<Vec<Gradient>, Refusal> {
    let needs = needs_gradient(&forward.tape);
    let mut gradients: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    let root = Phase::Backward.scope(&forward.class);
    for (value, gradient) in seeds {
        accumulate(&mut forward.tape, &mut gradients, *value, *gradient)?;
    }
    for step in forward.steps.iter().rev() {
        let Some(gradient) = gradients.get(&step.output).copied().filter(|_| needs[step.output]) else { continue };
        walk_back(&mut forward.tape, (step, &root), &needs, gradient, &mut gradients)?;
    }
    let weights = forward.tape.nodes.iter_enumerated().filter_map(|(id, node)| match &node.op {
        AtenOp::Weight { path, .. } => {
            Some(Gradient { path: path.clone(), weight: id, gradient: *gradients.get(&id)? })
        }
        _ => None,
    });
    let mut all: Vec<Gradient> = weights.filter(|g| needs[g.weight]).collect();
    all.order_by_key(|g| g.gradient);
    Ok(all)
}

/// The gradients of one op's operands, added to those they have.
fn walk_back(
    tape: &mut Tape,
    (step, root): (&Step, &str),
    needs: &IndexVec<NodeId, bool>,
    gradient: NodeId,
    gradients: &mut BTreeMap<NodeId, NodeId>,
) -> Result<(), Refusal> {
    let wanted: Vec<bool> = step.inputs.iter().map(|input| needs[*input]).collect();
    // A scope of one constant says nothing of the gradient.
    let module = step.module.rsplit_once("/Tensor_").map_or(step.module.as_str(), |(module, _)| module);
    let (name, rule) = rule_of(&step.op).ok_or_else(|| no_rule(&step.op, &tape.nodes[step.output].scope))?;
    tape.scope = if name.is_empty() { format!("{root}{module}") } else { format!("{root}{module}/{name}") };
    let site =
        Site { op: &step.op, inputs: &step.inputs, output: step.output, needs: &wanted, statistics: step.statistics };
    for (operand, part) in rule(tape, &site, gradient)? {
        if let Some(input) = step.inputs.get(operand) {
            accumulate(tape, gradients, *input, part)?;
        }
    }
    Ok(())
}

/// A value that several ops read has the sum of their gradients.
fn accumulate(
    tape: &mut Tape,
    gradients: &mut BTreeMap<NodeId, NodeId>,
    value: NodeId,
    part: NodeId,
) -> Result<(), Refusal> {
    let total = match gradients.get(&value) {
        Some(other) => tape.binary(BinaryOp::Add, *other, part)?,
        None => part,
    };
    gradients.insert(value, total);
    Ok(())
}

/// Whether each value depends on a parameter.
fn needs_gradient(tape: &Tape) -> IndexVec<NodeId, bool> {
    let mut needs: IndexVec<NodeId, bool> = IndexVec::new();
    for node in tape.nodes.iter() {
        let is_real = node.shape.dtype != DType::S32;
        let needed = match &node.op {
            AtenOp::Weight { buffer, .. } => !buffer,
            AtenOp::Binary(BinaryOp::Greater | BinaryOp::Equal) => false,
            _ => node.inputs.iter().any(|input| needs[*input]),
        };
        needs.push(needed && is_real);
    }
    needs
}
