//! Recurrent layers.

use crate::onnx::site::{FIXED, Failure, Results, Site};
use ns_base::convert::u64_to_usize;
use ns_base::refuse;
use ns_program::InstructionId;
use ns_program::OperatorKind::Recurrence;
use ns_program::compose::{CellKind, Layer, recurrent};

use super::Operator;

pub(super) const OPS: &[Operator] = &[
    ("LSTM", Recurrence, |site| layer(site, CellKind::Lstm { order: [0, 2, 3, 1] })),
    ("GRU", Recurrence, |site| layer(site, CellKind::Gru { order: [1, 0, 2], resets_after: false })),
    ("RNN", Recurrence, |site| layer(site, CellKind::Plain { is_relu: false })),
];

/// The kind of cell, with the node's settings.
fn kind(site: &Site<'_, '_>, kind: CellKind, directions: usize) -> Result<CellKind, Failure> {
    if site.float("clip", 0.0)? != 0.0 {
        return Err(site.fault(refuse!("with the attribute clip is not known")));
    }
    if site.int("input_forget", 0)? != 0 || site.option(7).is_some() {
        return Err(site.fault(refuse!("with coupled gates or peepholes is not known")));
    }
    let default: &[&str] = match kind {
        CellKind::Lstm { .. } => &["Sigmoid", "Tanh", "Tanh"],
        CellKind::Gru { .. } => &["Sigmoid", "Tanh"],
        CellKind::Plain { .. } => &["Tanh"],
    };
    let given = site.texts("activations")?.unwrap_or_default();
    let is_given = |wanted: &[&str]| given.is_empty() || given.chunks(wanted.len()).all(|part| part == wanted);
    match kind {
        CellKind::Gru { order, .. } if is_given(default) => {
            Ok(CellKind::Gru { order, resets_after: site.int("linear_before_reset", 0)? != 0 })
        }
        CellKind::Plain { .. } if !given.is_empty() && given.len() == directions && is_given(&["Relu"]) => {
            Ok(CellKind::Plain { is_relu: true })
        }
        kind if is_given(default) => Ok(kind),
        _ => Err(site.fault(refuse!("with the activations {given:?} is not known"))),
    }
}

fn layer(site: &mut Site<'_, '_>, cell: CellKind) -> Results {
    let is_batch_first = site.int("layout", 0)? != 0;
    let mut x = site.x(0)?;
    if is_batch_first {
        x = site.b().swap_dims(x, 0, 1)?;
    }
    let (w, r) = (site.x(1)?, site.x(2)?);
    let (x_dims, w_dims, r_dims) = (site.dims(x), site.dims(w), site.dims(r));
    let (&[steps, batch, _], &[directions, _, _], &[_, _, hidden]) =
        (x_dims.as_slice(), w_dims.as_slice(), r_dims.as_slice())
    else {
        return Err(site.fault(refuse!("cannot apply weights {w_dims:?} and {r_dims:?} to {x_dims:?}")));
    };
    let direction = site.text("direction", "forward")?;
    let count = if direction == "bidirectional" { 2 } else { 1 };
    if directions != count {
        return Err(site.fault(refuse!("is {direction} and has weights of {directions} directions")));
    }
    whole_sequences(site, steps)?;
    let kind = kind(site, cell, u64_to_usize(count))?;
    let elements = |dims: &[u64]| dims.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    site.count([steps, batch, elements(&w_dims).saturating_add(elements(&r_dims))]);
    let has_cell = matches!(kind, CellKind::Lstm { .. });
    let (mut all, mut last, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..count {
        let first = first_state(site, 5, at, [batch, hidden], is_batch_first)?;
        let first_cell = if has_cell { Some(first_state(site, 6, at, [batch, hidden], is_batch_first)?) } else { None };
        let (input_weight, state_weight) = (site.b().pick(w, 0, at)?, site.b().pick(r, 0, at)?);
        let (input_bias, state_bias) = biases(site, at)?;
        let is_reversed = direction == "reverse" || at == 1;
        let layer = Layer { input_weight, state_weight, input_bias, state_bias, projection: None, is_reversed };
        let made = recurrent(site.b(), kind, x, (first, first_cell), &layer)?;
        all.push(made.states);
        last.push(made.state);
        cells.extend(made.cell);
    }
    let mut results = vec![site.b().stack(&all, 1)?, site.b().stack(&last, 0)?];
    if has_cell {
        results.push(site.b().stack(&cells, 0)?);
    }
    if is_batch_first {
        results[0] = site.b().transpose(results[0], &[2, 0, 1, 3])?;
        for state in &mut results[1..] {
            *state = site.b().swap_dims(*state, 0, 1)?;
        }
    }
    Ok(results)
}

/// Checks that every sequence is as long as the array.
fn whole_sequences(site: &Site<'_, '_>, steps: u64) -> Result<(), Failure> {
    if site.option(4).is_none() || site.known_ints(4)?.iter().all(|&n| u64::try_from(n) == Ok(steps)) {
        return Ok(());
    }
    Err(site.fault(refuse!(instead = FIXED, "runs over sequences of different lengths")))
}

/// The initial state of a direction; zeros if it is left out.
fn first_state(
    site: &mut Site<'_, '_>,
    operand: usize,
    at: u64,
    dims: [u64; 2],
    is_batch_first: bool,
) -> Result<InstructionId, Failure> {
    match site.option(operand) {
        Some(state) => Ok(site.b().pick(state, usize::from(is_batch_first), at)?),
        None => {
            let x = site.x(0)?;
            let element = site.element(x);
            Ok(site.b().full(element, &dims, 0.0)?)
        }
    }
}

/// Biases of a direction: first for the input, then for the state.
fn biases(site: &mut Site<'_, '_>, at: u64) -> Result<(Option<InstructionId>, Option<InstructionId>), Failure> {
    let Some(both) = site.option(3) else { return Ok((None, None)) };
    let row = site.b().pick(both, 0, at)?;
    let half = site.b().size(row, 0)? / 2;
    let parts = site.b().split(row, 0, &[half, half])?;
    Ok((parts.first().copied(), parts.get(1).copied()))
}
