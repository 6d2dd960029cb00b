//! The table of backward rules: how the gradient of an op's result becomes the gradients of its operands.

use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_kernel::{ModelKernel, TABLE_GRADIENT, TABLE_KERNEL};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::norms::Statistics;
use super::tape::Tape;
use super::{convolutions, norms, pointwise, products};
use crate::{AtenOp, NodeId};

/// An op of the forward pass whose gradient is wanted.
pub(super) struct Site<'a> {
    pub op: &'a AtenOp,
    pub inputs: &'a [NodeId],
    /// Its result.
    pub output: NodeId,
    /// For each operand, whether its gradient is needed.
    pub needs: &'a [bool],
    /// What a norm computed on the way.
    pub statistics: Option<Statistics>,
}

impl Site<'_> {
    /// The gradient of an operand, computed only if it is needed.
    pub fn needed(
        &self,
        operand: usize,
        gradient: impl FnOnce() -> Result<NodeId, Refusal>,
        into: &mut Gradients,
    ) -> Result<(), Refusal> {
        if self.needs.get(operand).copied().unwrap_or(false) {
            into.push((operand, gradient()?));
        }
        Ok(())
    }
}

/// Gradients of operands, by the position of the operand.
pub(super) type Gradients = Vec<(usize, NodeId)>;

/// Computes the gradients of a site's operands from the gradient of its result.
type Rule = fn(&mut Tape, &Site<'_>, NodeId) -> Result<Gradients, Refusal>;

/// The rule of an op, with the name that profiles show one level deeper; no name where the rule is a single op.
pub(super) fn rule_of(op: &AtenOp) -> Option<(&'static str, Rule)> {
    Some(match op {
        AtenOp::Permute { .. } => ("", permute),
        AtenOp::View => ("", |t, s, g| {
            of_one(t, s, |t| {
                let dims = t.dims(s.inputs[0]).to_vec();
                t.view(g, &dims)
            })
        }),
        AtenOp::Addmm => ("addmm_backward", products::addmm),
        AtenOp::Mm | AtenOp::Matmul => ("mm_backward", products::matmul),
        AtenOp::Convolution { .. } => ("convolution_backward", convolutions::convolution),
        AtenOp::MaxPool2d { .. } => ("", convolutions::max_pool),
        AtenOp::AvgPool2d { .. } => ("avg_pool2d_backward", convolutions::avg_pool),
        AtenOp::BatchNorm { .. } => ("native_batch_norm_backward", norms::backward),
        AtenOp::LayerNorm { .. } => ("native_layer_norm_backward", norms::backward),
        AtenOp::Softmax { .. } => ("_softmax_backward_data", pointwise::softmax),
        AtenOp::LogSoftmax { .. } => ("_log_softmax_backward_data", pointwise::log_softmax),
        AtenOp::Relu | AtenOp::Unary(UnaryOp::ReluKernel) => ("threshold_backward", pointwise::threshold),
        AtenOp::Silu => ("silu_backward", pointwise::silu),
        AtenOp::Unary(UnaryOp::GeluDerivative) => return None,
        AtenOp::Unary(op) => (pointwise::name(*op), pointwise::unary),
        AtenOp::Binary(_) => ("", pointwise::binary),
        AtenOp::Scalar { .. } => ("", pointwise::scalar),
        AtenOp::Mean | AtenOp::MeanDims { .. } => ("mean_backward", mean),
        AtenOp::SumDims { .. } => ("", |t, s, g| of_one(t, s, |t| repeated(t, s, g))),
        AtenOp::Embedding => ("", embedding),
        AtenOp::Cat { .. } => ("", cat),
        AtenOp::Slice { .. } => ("slice_backward", slice),
        AtenOp::Expand => ("", |t, s, g| {
            of_one(t, s, |t| {
                let dims = t.dims(s.inputs[0]).to_vec();
                t.reduced_to(g, &dims)
            })
        }),
        AtenOp::To(_) => ("", |t, s, g| of_one(t, s, |t| t.op(AtenOp::To(t.nodes[s.inputs[0]].shape.dtype), &[g]))),
        AtenOp::Custom { target, .. } if is_relu(target) => ("", custom),
        _ => return None,
    })
}

/// The error of an op without a rule.
pub(super) fn no_rule(op: &AtenOp, scope: &str) -> Refusal {
    match op {
        AtenOp::Custom { name, .. } => refuse!(
            "{name} in {scope} has no backward rule: its kernel is not a ReLU; train with kernel=relu, or leave --training out"
        ),
        op => refuse!(
            "{} in {scope} has no backward rule, so the model cannot be trained; leave --training out to run it for inference",
            op.name()
        ),
    }
}

fn is_relu(target: &str) -> bool {
    target == TABLE_KERNEL || ModelKernel::find(target).is_ok_and(|kernel| kernel.is_relu())
}

/// The gradient of an op with one operand.
pub(super) fn of_one(
    tape: &mut Tape,
    site: &Site<'_>,
    gradient: impl FnOnce(&mut Tape) -> Result<NodeId, Refusal>,
) -> Result<Gradients, Refusal> {
    let mut all = Gradients::new();
    site.needed(0, || gradient(tape), &mut all)?;
    Ok(all)
}

fn permute(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Permute { dims } = site.op else { return Ok(Gradients::new()) };
    let mut back = dims.clone();
    for (to, from) in dims.iter().enumerate() {
        if let Some(place) = back.get_mut(*from as usize) {
            *place = usize_to_u32(to);
        }
    }
    of_one(tape, site, |t| t.permute(g, &back))
}

/// The gradient of a reduction, repeated along the dimensions that it lost.
fn repeated(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<NodeId, Refusal> {
    let shape = tape.shape(site.inputs[0]);
    let mut dims = shape.dims.clone();
    match site.op {
        AtenOp::SumDims { dims: lost, .. } | AtenOp::MeanDims { dims: lost, .. } => {
            for dim in lost {
                dims[*dim as usize] = 1;
            }
        }
        _ => dims.clear(),
    }
    let g = tape.view(g, &dims)?;
    tape.expand(g, &shape)
}

fn mean(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let (all, kept) = (tape.shape(site.inputs[0]).elements(), tape.shape(site.output).elements());
    let share = 1.0 / u64_to_f32((all / kept.max(1)).max(1));
    of_one(tape, site, |t| {
        let g = t.scale(g, share)?;
        repeated(t, site, g)
    })
}

fn embedding(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let rows = tape.dims(site.inputs[0]).first().copied().unwrap_or(1);
    of_one(tape, site, |t| t.op(AtenOp::EmbeddingBackward { rows }, &[g, site.inputs[1]]))
}

fn cat(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Cat { dim } = *site.op else { return Ok(Gradients::new()) };
    let (mut all, mut start) = (Gradients::new(), 0);
    for (operand, input) in site.inputs.iter().enumerate() {
        let end = start + tape.dims(*input)[dim as usize];
        site.needed(operand, || tape.op(AtenOp::Slice { dim, start, end }, &[g]), &mut all)?;
        start = end;
    }
    Ok(all)
}

/// The gradient of a part: zeros around it.
fn slice(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Slice { dim, start, end } = *site.op else { return Ok(Gradients::new()) };
    let whole = tape.shape(site.inputs[0]);
    of_one(tape, site, |t| {
        let mut zeros = |size: u64| {
            let mut shape = whole.clone();
            shape.dims[dim as usize] = size;
            t.op_as(AtenOp::Full(0.0), &[], Some(&shape))
        };
        let mut parts = Vec::new();
        if start > 0 {
            parts.push(zeros(start)?);
        }
        parts.push(g);
        if end < whole.dims[dim as usize] {
            parts.push(zeros(whole.dims[dim as usize] - end)?);
        }
        t.op(AtenOp::Cat { dim }, &parts)
    })
}

/// The tutorial's `relu_backward`, a kernel of the same library.
fn custom(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Custom { name, .. } = site.op else { return Ok(Gradients::new()) };
    let op = AtenOp::CustomBackward { name: format!("{name}_backward"), target: TABLE_GRADIENT.to_owned() };
    of_one(tape, site, |t| t.op(op, &[g, site.inputs[0]]))
}

/// One where the first is larger, else zero.
pub(super) fn greater(tape: &mut Tape, a: NodeId, b: NodeId) -> Result<NodeId, Refusal> {
    tape.binary(BinaryOp::Greater, a, b)
}
