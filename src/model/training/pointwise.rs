//! Rules of elementwise functions and of softmax.

use ns_base::Refusal;
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::rules::{Gradients, Site, greater, of_one};
use super::tape::Tape;
use crate::{AtenOp, NodeId};

/// The name of a function's gradient in the framework, where that is more than one op.
pub(super) const fn name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Tanh => "tanh_backward",
        UnaryOp::Logistic => "sigmoid_backward",
        UnaryOp::Sqrt => "sqrt_backward",
        UnaryOp::Rsqrt => "rsqrt_backward",
        _ => "",
    }
}

pub(super) fn unary(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Unary(op) = site.op else { return Ok(Gradients::new()) };
    let (x, y) = (site.inputs[0], site.output);
    of_one(tape, site, |t| match op {
        UnaryOp::Neg => t.unary(UnaryOp::Neg, g),
        UnaryOp::Exp => t.mul(g, y),
        UnaryOp::Log => t.binary(BinaryOp::Div, g, x),
        UnaryOp::Tanh => {
            let square = t.mul(y, y)?;
            let slope = t.reversed(BinaryOp::Sub, 1.0, square)?;
            t.mul(g, slope)
        }
        UnaryOp::Sqrt => {
            let half = t.scale(g, 0.5)?;
            t.binary(BinaryOp::Div, half, y)
        }
        UnaryOp::Rsqrt => {
            let square = t.mul(y, y)?;
            let cube = t.mul(square, y)?;
            let slope = t.scale(cube, -0.5)?;
            t.mul(g, slope)
        }
        UnaryOp::Logistic => {
            let rest = t.reversed(BinaryOp::Sub, 1.0, y)?;
            let slope = t.mul(y, rest)?;
            t.mul(g, slope)
        }
        UnaryOp::Gelu => {
            let slope = t.unary(UnaryOp::GeluDerivative, x)?;
            t.mul(g, slope)
        }
        // They have rows of their own in the table.
        UnaryOp::GeluDerivative | UnaryOp::ReluKernel => Ok(g),
    })
}

/// The gradient passes where the operand is above zero.
pub(super) fn threshold(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    of_one(tape, site, |t| {
        let passes = t.scalar(BinaryOp::Greater, site.inputs[0], 0.0)?;
        t.mul(g, passes)
    })
}

/// `x * s` with `s = sigmoid(x)` has the slope `s * (1 + x * (1 - s))`.
pub(super) fn silu(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let x = site.inputs[0];
    of_one(tape, site, |t| {
        let s = t.unary(UnaryOp::Logistic, x)?;
        let rest = t.reversed(BinaryOp::Sub, 1.0, s)?;
        let product = t.mul(x, rest)?;
        let more = t.scalar(BinaryOp::Add, product, 1.0)?;
        let slope = t.mul(s, more)?;
        t.mul(g, slope)
    })
}

/// `y * (g - sum(g * y))`
pub(super) fn softmax(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Softmax { dim } = *site.op else { return Ok(Gradients::new()) };
    let y = site.output;
    of_one(tape, site, |t| {
        let weighted = t.mul(g, y)?;
        let total = t.sum(weighted, &[dim], true)?;
        let rest = t.sub(g, total)?;
        t.mul(y, rest)
    })
}

/// `g - e^y * sum(g)`
pub(super) fn log_softmax(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::LogSoftmax { dim } = *site.op else { return Ok(Gradients::new()) };
    let y = site.output;
    of_one(tape, site, |t| {
        let total = t.sum(g, &[dim], true)?;
        let share = t.unary(UnaryOp::Exp, y)?;
        let part = t.mul(share, total)?;
        t.sub(g, part)
    })
}

pub(super) fn binary(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let (AtenOp::Binary(op), &[a, b]) = (site.op, site.inputs) else { return Ok(Gradients::new()) };
    let y = site.output;
    let mut all = Gradients::new();
    let first = |t: &mut Tape| {
        let part = match op {
            BinaryOp::Add | BinaryOp::Sub => g,
            BinaryOp::Mul => t.mul(g, b)?,
            BinaryOp::Div => t.binary(BinaryOp::Div, g, b)?,
            BinaryOp::Maximum => masked(t, g, (a, b))?,
            BinaryOp::Minimum => masked(t, g, (b, a))?,
            BinaryOp::Greater | BinaryOp::Equal => t.scale(g, 0.0)?,
        };
        let dims = t.dims(a).to_vec();
        t.reduced_to(part, &dims)
    };
    site.needed(0, || first(tape), &mut all)?;
    let second = |t: &mut Tape| {
        let part = match op {
            BinaryOp::Add => g,
            BinaryOp::Sub => t.unary(UnaryOp::Neg, g)?,
            BinaryOp::Mul => t.mul(g, a)?,
            BinaryOp::Div => {
                let whole = t.mul(g, y)?;
                let share = t.binary(BinaryOp::Div, whole, b)?;
                t.unary(UnaryOp::Neg, share)?
            }
            // What the first operand does not get.
            BinaryOp::Maximum => {
                let taken = masked(t, g, (a, b))?;
                t.sub(g, taken)?
            }
            BinaryOp::Minimum => {
                let taken = masked(t, g, (b, a))?;
                t.sub(g, taken)?
            }
            BinaryOp::Greater | BinaryOp::Equal => t.scale(g, 0.0)?,
        };
        let dims = t.dims(b).to_vec();
        t.reduced_to(part, &dims)
    };
    site.needed(1, || second(tape), &mut all)?;
    Ok(all)
}

/// The gradient where the first is larger.
fn masked(t: &mut Tape, g: NodeId, (larger, than): (NodeId, NodeId)) -> Result<NodeId, Refusal> {
    let mask = greater(t, larger, than)?;
    t.mul(g, mask)
}

pub(super) fn scalar(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::Scalar { op, value, reversed } = *site.op else { return Ok(Gradients::new()) };
    let (x, y) = (site.inputs[0], site.output);
    of_one(tape, site, |t| match (op, reversed) {
        (BinaryOp::Add, _) | (BinaryOp::Sub, false) => Ok(g),
        (BinaryOp::Sub, true) => t.unary(UnaryOp::Neg, g),
        (BinaryOp::Mul, _) => t.scale(g, value),
        (BinaryOp::Div, false) => t.scalar(BinaryOp::Div, g, value),
        (BinaryOp::Div, true) => {
            let whole = t.mul(g, y)?;
            let share = t.binary(BinaryOp::Div, whole, x)?;
            t.unary(UnaryOp::Neg, share)
        }
        (BinaryOp::Maximum, _) => {
            let mask = t.scalar(BinaryOp::Greater, x, value)?;
            t.mul(g, mask)
        }
        (BinaryOp::Minimum, _) => {
            let mask = t.reversed(BinaryOp::Greater, value, x)?;
            t.mul(g, mask)
        }
        (BinaryOp::Greater | BinaryOp::Equal, _) => t.scale(g, 0.0),
    })
}
