//! Norms as they are computed in training: with the statistics of the batch, which the backward pass reads again.

use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::rules::{Gradients, Site};
use super::tape::Tape;
use crate::{AtenOp, NodeId};

/// Share of the batch in a running statistic: `torch.nn.BatchNorm2d`'s momentum.
const MOMENTUM: f32 = 0.1;

/// What a norm computes on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    /// `(x - mean) * rsqrt(variance + eps)`
    pub normal: NodeId,
    /// `rsqrt(variance + eps)`, with the reduced dimensions of size one.
    pub scale: NodeId,
    pub mean: NodeId,
    pub variance: NodeId,
}

/// The result of a norm, and its statistics. `inputs` are `x`, weight, bias and, of a batch norm, the running statistics.
pub(super) fn forward(tape: &mut Tape, op: &AtenOp, inputs: &[NodeId]) -> Result<(NodeId, Statistics), Refusal> {
    let x = inputs[0];
    let eps = match op {
        AtenOp::BatchNorm { eps } | AtenOp::LayerNorm { eps } => *eps,
        _ => 0.0,
    };
    let lost = reduced(tape, op, x);
    let mean = tape.mean(x, &lost)?;
    let centred = tape.sub(x, mean)?;
    let square = tape.mul(centred, centred)?;
    let variance = tape.mean(square, &lost)?;
    let shifted = tape.scalar(BinaryOp::Add, variance, eps)?;
    let scale = tape.unary(UnaryOp::Rsqrt, shifted)?;
    let normal = tape.mul(centred, scale)?;
    let weight = along(tape, op, inputs[1], x)?;
    let scaled = tape.mul(normal, weight)?;
    let bias = along(tape, op, inputs[2], x)?;
    let result = tape.add(scaled, bias)?;
    Ok((result, Statistics { normal, scale, mean, variance }))
}

/// The dimensions over which a norm takes its statistics.
fn reduced(tape: &Tape, op: &AtenOp, x: NodeId) -> Vec<u32> {
    let rank = usize_to_u32(tape.dims(x).len());
    match op {
        AtenOp::BatchNorm { .. } => (0..rank).filter(|d| *d != 1).collect(),
        _ => vec![rank.saturating_sub(1)],
    }
}

/// A weight of each channel or feature, so that it broadcasts over `x`.
fn along(tape: &mut Tape, op: &AtenOp, weight: NodeId, x: NodeId) -> Result<NodeId, Refusal> {
    let dims = tape.dims(x).to_vec();
    match op {
        AtenOp::BatchNorm { .. } => {
            let shape: Vec<u64> = dims.iter().enumerate().map(|(i, d)| if i == 1 { *d } else { 1 }).collect();
            tape.view(weight, &shape)
        }
        _ => Ok(weight),
    }
}

/// `scale * (h - mean(h) - normal * mean(h * normal))` with `h = g * weight`; for weight and bias the sums of `g * normal` and
/// `g`.
pub(super) fn backward(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let (Some(statistics), &[x, weight, bias, ..]) = (site.statistics, site.inputs) else {
        return Ok(Gradients::new());
    };
    let Statistics { normal, scale, .. } = statistics;
    let lost = reduced(tape, site.op, x);
    let mut all = Gradients::new();
    let of_x = |t: &mut Tape| {
        let wide = along(t, site.op, weight, x)?;
        let h = t.mul(g, wide)?;
        let mean = t.mean(h, &lost)?;
        let product = t.mul(h, normal)?;
        let slope = t.mean(product, &lost)?;
        let less = t.sub(h, mean)?;
        let part = t.mul(normal, slope)?;
        let rest = t.sub(less, part)?;
        t.mul(rest, scale)
    };
    site.needed(0, || of_x(tape), &mut all)?;
    let rank = usize_to_u32(tape.dims(x).len());
    let feature = if matches!(site.op, AtenOp::BatchNorm { .. }) { 1 } else { rank.saturating_sub(1) };
    let others: Vec<u32> = (0..rank).filter(|d| *d != feature).collect();
    let of_weight = |t: &mut Tape| {
        let product = t.mul(g, normal)?;
        let sum = t.sum(product, &others, false)?;
        let dims = t.dims(weight).to_vec();
        t.view(sum, &dims)
    };
    site.needed(1, || of_weight(tape), &mut all)?;
    let of_bias = |t: &mut Tape| {
        let sum = t.sum(g, &others, false)?;
        let dims = t.dims(bias).to_vec();
        t.view(sum, &dims)
    };
    site.needed(2, || of_bias(tape), &mut all)?;
    Ok(all)
}

/// The new running statistics of a batch norm: a tenth of the batch's own, the variance without bias.
pub(super) fn running(
    tape: &mut Tape,
    statistics: Statistics,
    x: NodeId,
    [mean, variance]: [NodeId; 2],
) -> Result<[NodeId; 2], Refusal> {
    let channels = tape.dims(mean).to_vec();
    let count = tape.shape(x).elements() / channels.iter().product::<u64>().max(1);
    let unbiased = u64_to_f32(count) / u64_to_f32(count.saturating_sub(1).max(1));
    let mut mixed = |old: NodeId, new: NodeId, factor: f32| {
        let kept = tape.scale(old, 1.0 - MOMENTUM)?;
        let new = tape.view(new, &channels)?;
        let part = tape.scale(new, MOMENTUM * factor)?;
        tape.add(kept, part)
    };
    Ok([mixed(mean, statistics.mean, 1.0)?, mixed(variance, statistics.variance, unbiased)?])
}
