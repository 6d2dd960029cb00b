//! Gradients of several micro-batches, added up in a buffer beside each parameter.

use ns_base::Refusal;

use super::backward::Gradient;
use super::optimizer::{assign, state};
use super::tape::Tape;
use crate::{AtenOp, NodeId};

/// The buffer of a parameter's gradients, as `Parameter.grad` of PyTorch.
const BUFFER: &str = "grad";

/// Appends the sum of a gradient and its buffer; returns the assignment to the buffer.
pub(super) fn add_up(tape: &mut Tape, of: &Gradient) -> Result<NodeId, Refusal> {
    let (path, buffer) = state(tape, of, BUFFER);
    let total = tape.add(buffer, of.gradient)?;
    assign(tape, path, total)
}

/// Appends the mean over the micro-batches, of which this gradient is the last; returns it with the assignment of zeros to the
/// buffer.
pub(super) fn mean(tape: &mut Tape, of: &Gradient, micro_batches: u32) -> Result<(Gradient, NodeId), Refusal> {
    let (path, buffer) = state(tape, of, BUFFER);
    let total = tape.add(buffer, of.gradient)?;
    #[allow(clippy::cast_precision_loss, reason = "a share of the loss, in single precision as the framework has it")]
    let gradient = tape.scale(total, 1.0 / micro_batches as f32)?;
    let shape = tape.shape(of.weight);
    let zeros = tape.op_as(AtenOp::Full(0.0), &[], Some(&shape))?;
    let cleared = assign(tape, path, zeros)?;
    Ok((Gradient { path: of.path.clone(), weight: of.weight, gradient }, cleared))
}
