//! Recurrent layers, unrolled over time as PyTorch/XLA does; the products with the inputs of all steps are one product.

use super::super::{Binary, Builder, Built, InstructionId, Unary};
use super::one_minus;
use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};

/// Kind of a recurrent cell and the order of its gates in the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Long short-term memory; positions of the input, forget, cell and output gates among the weights' rows.
    Lstm {
        /// PyTorch has `[0, 1, 2, 3]`, ONNX `[0, 2, 3, 1]`.
        order: [usize; 4],
    },
    /// Gated recurrent unit; positions of the reset, update and new gates.
    Gru {
        /// PyTorch has `[0, 1, 2]`, ONNX `[1, 0, 2]`.
        order: [usize; 3],
        /// Whether the reset gate multiplies the product with the state (PyTorch) or the state before the product.
        resets_after: bool,
    },
    /// A simple cell: one tanh, or one rectifier.
    Plain {
        /// Whether it is the rectifier.
        is_relu: bool,
    },
}

impl CellKind {
    /// The gate order of PyTorch.
    pub const TORCH_LSTM: Self = Self::Lstm { order: [0, 1, 2, 3] };
    /// The gate order of PyTorch.
    pub const TORCH_GRU: Self = Self::Gru { order: [0, 1, 2], resets_after: true };

    /// Number of gates in the weights.
    pub const fn gates(self) -> usize {
        match self {
            Self::Lstm { .. } => 4,
            Self::Gru { .. } => 3,
            Self::Plain { .. } => 1,
        }
    }
}

/// One direction of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Weights of the input, `[gates x hidden, input]`.
    pub input_weight: InstructionId,
    /// Weights of the state, `[gates x hidden, state]`.
    pub state_weight: InstructionId,
    /// Bias of the input, `[gates x hidden]`.
    pub input_bias: Option<InstructionId>,
    pub state_bias: Option<InstructionId>,
    /// Weights of a projection of the state, `[projected, hidden]`.
    pub projection: Option<InstructionId>,
    /// Whether the layer runs backwards in time.
    pub is_reversed: bool,
}

/// Results of a layer: all states in order of time, and the last states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrent {
    /// `[time, batch, hidden]`.
    pub states: InstructionId,
    /// `[batch, hidden]`.
    pub state: InstructionId,
    /// The cell of a long short-term memory, `[batch, hidden]`.
    pub cell: Option<InstructionId>,
}

/// Most steps that are unrolled.
const MAX_STEPS: u64 = 8192;

/// A recurrent layer over `x` of `[time, batch, input]` from an initial state (and cell) of `[batch, hidden]`. Fails when sizes do
/// not fit or there are too many steps.
pub fn recurrent(
    b: &mut Builder,
    kind: CellKind,
    x: InstructionId,
    first: (InstructionId, Option<InstructionId>),
    layer: &Layer,
) -> Result<Recurrent, Refusal> {
    let steps = b.size(x, 0)?;
    if steps > MAX_STEPS || steps == 0 {
        return Err(refuse!("a recurrent layer has {steps} steps: 1 to {MAX_STEPS} are unrolled"));
    }
    let gates = kind.gates() as u64;
    let rows = b.size(layer.state_weight, 0)?;
    if !rows.is_multiple_of(gates) || rows == 0 {
        return Err(refuse!("weights of {rows} rows do not divide into {gates} gates"));
    }
    let inputs = b.linear(x, layer.input_weight, layer.input_bias)?;
    let (mut state, mut cell) = first;
    let mut states = Vec::with_capacity(u64_to_usize(steps));
    for turn in 0..steps {
        let at = if layer.is_reversed { steps - 1 - turn } else { turn };
        let input = b.pick(inputs, 0, at)?;
        (state, cell) = step(b, kind, layer, input, (state, cell))?;
        states.push(state);
    }
    if layer.is_reversed {
        states.reverse();
    }
    Ok(Recurrent { states: b.stack(&states, 0)?, state, cell })
}

/// One step: the next state and cell.
fn step(
    b: &mut Builder,
    kind: CellKind,
    layer: &Layer,
    input: InstructionId,
    (state, cell): (InstructionId, Option<InstructionId>),
) -> Result<(InstructionId, Option<InstructionId>), Refusal> {
    match kind {
        CellKind::Plain { is_relu } => {
            let own = b.linear(state, layer.state_weight, layer.state_bias)?;
            let sum = b.add(input, own)?;
            let next = if is_relu { super::relu(b, sum)? } else { b.unary(Unary::Tanh, sum)? };
            Ok((next, cell))
        }
        CellKind::Lstm { order } => {
            let cell = cell.ok_or_else(|| refuse!("a long short-term memory needs a first cell"))?;
            let own = b.linear(state, layer.state_weight, layer.state_bias)?;
            let sum = b.add(input, own)?;
            let parts = gate_parts(b, sum, 4)?;
            let let_in = b.unary(Unary::Logistic, parts[order[0]])?;
            let keep = b.unary(Unary::Logistic, parts[order[1]])?;
            let new = b.unary(Unary::Tanh, parts[order[2]])?;
            let let_out = b.unary(Unary::Logistic, parts[order[3]])?;
            let kept = b.mul(keep, cell)?;
            let added = b.mul(let_in, new)?;
            let cell = b.add(kept, added)?;
            let squashed = b.unary(Unary::Tanh, cell)?;
            let next = b.mul(let_out, squashed)?;
            let next = match layer.projection {
                Some(weight) => b.linear(next, weight, None)?,
                None => next,
            };
            Ok((next, Some(cell)))
        }
        CellKind::Gru { order, resets_after } => Ok((gru_step(b, layer, input, state, order, resets_after)?, cell)),
    }
}

/// One step of a gated recurrent unit.
fn gru_step(
    b: &mut Builder,
    layer: &Layer,
    input: InstructionId,
    state: InstructionId,
    order: [usize; 3],
    resets_after: bool,
) -> Built {
    let outer = gate_parts(b, input, 3)?;
    let (reset, update, new);
    if resets_after {
        let own = b.linear(state, layer.state_weight, layer.state_bias)?;
        let inner = gate_parts(b, own, 3)?;
        reset = gate(b, outer[order[0]], inner[order[0]])?;
        update = gate(b, outer[order[1]], inner[order[1]])?;
        let damped = b.mul(reset, inner[order[2]])?;
        new = b.add(outer[order[2]], damped)?;
    } else {
        let hidden = b.size(layer.state_weight, 0)? / 3;
        let weights = b.split(layer.state_weight, 0, &[hidden; 3])?;
        let biases = match layer.state_bias {
            Some(bias) => b.split(bias, 0, &[hidden; 3])?.into_iter().map(Some).collect(),
            None => vec![None; 3],
        };
        let inner = |b: &mut Builder, x, gate: usize| b.linear(x, weights[gate], biases[gate]);
        let own = inner(b, state, order[0])?;
        reset = gate(b, outer[order[0]], own)?;
        let own = inner(b, state, order[1])?;
        update = gate(b, outer[order[1]], own)?;
        let damped = b.mul(reset, state)?;
        let own = inner(b, damped, order[2])?;
        new = b.add(outer[order[2]], own)?;
    }
    let new = b.unary(Unary::Tanh, new)?;
    let rest = one_minus(b, update)?;
    let fresh = b.mul(rest, new)?;
    let kept = b.mul(update, state)?;
    b.binary(Binary::Add, fresh, kept)
}

/// The logistic function of a sum.
fn gate(b: &mut Builder, outer: InstructionId, inner: InstructionId) -> Built {
    let sum = b.add(outer, inner)?;
    b.unary(Unary::Logistic, sum)
}

/// Splits `[batch, gates x hidden]` into gates.
fn gate_parts(b: &mut Builder, x: InstructionId, gates: u64) -> Result<Vec<InstructionId>, Refusal> {
    let last = b.rank(x).saturating_sub(1);
    let hidden = b.size(x, last)? / gates;
    b.split(x, last, &vec![hidden; u64_to_usize(gates)])
}
