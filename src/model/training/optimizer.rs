//! Optimizers: how a gradient changes its parameter.

use std::fmt;

use ns_base::Refusal;
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::backward::Gradient;
use super::tape::Tape;
use crate::{AtenOp, Init, NodeId};

/// An optimizer of `torch.optim`, with its usual settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Optimizer {
    /// Stochastic gradient descent with a momentum of 0.9 and a learning rate of 0.01.
    Sgd,
    /// Adam with decoupled weight decay: `torch.optim.AdamW` with its defaults.
    #[default]
    AdamW,
}

const SGD_RATE: f32 = 0.01;
const SGD_MOMENTUM: f32 = 0.9;
const ADAM_RATE: f32 = 1e-3;
const ADAM_BETAS: [f32; 2] = [0.9, 0.999];
const ADAM_EPS: f32 = 1e-8;
const ADAM_DECAY: f32 = 1e-2;

impl Optimizer {
    /// All, the default first.
    pub const ALL: [Self; 2] = [Self::AdamW, Self::Sgd];

    /// Its name in specifications: `adamw`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sgd => "sgd",
            Self::AdamW => "adamw",
        }
    }

    /// Its class in the framework: `AdamW`.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Sgd => "SGD",
            Self::AdamW => "AdamW",
        }
    }

    /// Appends the update of a parameter; returns the assignments to the parameter and to the optimizer's own state.
    pub(super) fn update(self, tape: &mut Tape, of: &Gradient) -> Result<Vec<NodeId>, Refusal> {
        match self {
            Self::Sgd => sgd(tape, of),
            Self::AdamW => adamw(tape, of),
        }
    }
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// State beside a parameter, zero before the first call.
pub(super) fn state(tape: &mut Tape, of: &Gradient, name: &str) -> (String, NodeId) {
    let path = format!("{}.{name}", of.path);
    let op = AtenOp::Weight { path: path.clone(), init: Init::Constant(0.0), buffer: true };
    let shape = tape.shape(of.weight);
    let id = tape.source(op, Vec::new(), shape);
    (path, id)
}

pub(super) fn assign(tape: &mut Tape, path: String, value: NodeId) -> Result<NodeId, Refusal> {
    tape.op(AtenOp::Assign { path }, &[value])
}

/// `a * kept + b * new`
fn mixed(tape: &mut Tape, (a, kept): (NodeId, f32), (b, new): (NodeId, f32)) -> Result<NodeId, Refusal> {
    let a = tape.scale(a, kept)?;
    let b = if (new - 1.0).abs() < f32::EPSILON { b } else { tape.scale(b, new)? };
    tape.add(a, b)
}

/// `buffer = momentum * buffer + gradient`, `weight -= rate * buffer`
fn sgd(tape: &mut Tape, of: &Gradient) -> Result<Vec<NodeId>, Refusal> {
    let (path, buffer) = state(tape, of, "momentum_buffer");
    let buffer = mixed(tape, (buffer, SGD_MOMENTUM), (of.gradient, 1.0))?;
    let change = tape.scale(buffer, SGD_RATE)?;
    let weight = tape.sub(of.weight, change)?;
    Ok(vec![assign(tape, path, buffer)?, assign(tape, of.path.clone(), weight)?])
}

/// The first step: the corrections of both means are constants of the step, so any step has the same ops.
fn adamw(tape: &mut Tape, of: &Gradient) -> Result<Vec<NodeId>, Refusal> {
    let [first, second] = ADAM_BETAS;
    let (mean_path, mean) = state(tape, of, "exp_avg");
    let (square_path, square) = state(tape, of, "exp_avg_sq");
    let mean = mixed(tape, (mean, first), (of.gradient, 1.0 - first))?;
    let power = tape.mul(of.gradient, of.gradient)?;
    let square = mixed(tape, (square, second), (power, 1.0 - second))?;
    let root = tape.unary(UnaryOp::Sqrt, square)?;
    let root = tape.scale(root, 1.0 / (1.0 - second).sqrt())?;
    let root = tape.scalar(BinaryOp::Add, root, ADAM_EPS)?;
    let ratio = tape.binary(BinaryOp::Div, mean, root)?;
    let change = tape.scale(ratio, ADAM_RATE / (1.0 - first))?;
    let decayed = tape.scale(of.weight, 1.0 - ADAM_RATE * ADAM_DECAY)?;
    let weight = tape.sub(decayed, change)?;
    Ok(vec![assign(tape, mean_path, mean)?, assign(tape, square_path, square)?, assign(tape, of.path.clone(), weight)?])
}
