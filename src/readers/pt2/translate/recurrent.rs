//! Recurrent layers.

use super::call::{Call, CallOutcome, OpResult, Row};
use ns_base::refuse;
use ns_program::InstructionId;
use ns_program::OperatorKind::Recurrence;
use ns_program::compose::{CellKind, Layer, recurrent};

pub const OPS: &[Row] = &[
    (&["lstm"], Recurrence, |c| layers(c, CellKind::TORCH_LSTM)),
    (&["gru"], Recurrence, |c| layers(c, CellKind::TORCH_GRU)),
    (&["rnn_tanh"], Recurrence, |c| layers(c, CellKind::Plain { is_relu: false })),
    (&["rnn_relu"], Recurrence, |c| layers(c, CellKind::Plain { is_relu: true })),
    (&["lstm_cell"], Recurrence, |c| cell(c, CellKind::TORCH_LSTM)),
    (&["gru_cell"], Recurrence, |c| cell(c, CellKind::TORCH_GRU)),
    (&["rnn_tanh_cell"], Recurrence, |c| cell(c, CellKind::Plain { is_relu: false })),
    (&["rnn_relu_cell"], Recurrence, |c| cell(c, CellKind::Plain { is_relu: true })),
];

/// One step.
fn cell(c: &mut Call<'_, '_, '_>, kind: CellKind) -> CallOutcome {
    let (x, first) = (c.x(0)?, c.tensors(1)?);
    let layer = Layer {
        input_weight: c.x(2)?,
        state_weight: c.x(3)?,
        input_bias: c.tensor("b_ih")?,
        state_bias: c.tensor("b_hh")?,
        projection: None,
        is_reversed: false,
    };
    let steps = c.b().unsqueeze(x, 0)?;
    let first = (first.first().copied(), first.get(1).copied());
    let (Some(state), cell) = first else { return Err(c.missing("hx")) };
    let result = recurrent(c.b(), kind, steps, (state, cell), &layer)?;
    Ok(OpResult::Many(std::iter::once(Some(result.state)).chain(result.cell.map(Some)).collect()))
}

/// Several layers, in one direction or both.
fn layers(c: &mut Call<'_, '_, '_>, kind: CellKind) -> CallOutcome {
    if c.overload == "data" {
        return Err(refuse!("sequences of packed lengths are not translated"));
    }
    if c.flag_or("train", false) && c.float_or("dropout", 0.0) > 0.0 {
        return Err(refuse!("dropout between layers in training is not translated"));
    }
    let has_biases = c.flag_or("has_biases", true);
    let count = usize::try_from(c.int_or("num_layers", 1)).unwrap_or(0);
    let directions = 1 + usize::from(c.flag_or("bidirectional", false));
    let is_batch_first = c.flag_or("batch_first", false);
    let (mut x, states, weights) = (c.x(0)?, c.tensors(1)?, c.tensors(2)?);
    let is_single = c.b().rank(x) == 2;
    if is_single {
        x = c.b().unsqueeze(x, usize::from(!is_batch_first))?;
    }
    if is_batch_first {
        x = c.b().swap_dims(x, 0, 1)?;
    }
    let each = weights.len() / count.saturating_mul(directions).max(1);
    let projects = matches!(kind, CellKind::Lstm { .. }) && each == 3 + 2 * usize::from(has_biases);
    if each != 2 + 2 * usize::from(has_biases) + usize::from(projects) || states.is_empty() {
        return Err(refuse!("{} weights are given for {count} layers in {directions} directions", weights.len()));
    }
    let mut last: (Vec<InstructionId>, Vec<InstructionId>) = (Vec::new(), Vec::new());
    for number in 0..count {
        let mut both = Vec::new();
        for direction in 0..directions {
            let at = number * directions + direction;
            let own = &weights[at * each..(at + 1) * each];
            let layer = layer_of(own, has_biases, projects, direction == 1);
            let first = |c: &mut Call<'_, '_, '_>, of: InstructionId| {
                let of = if is_single { c.b().unsqueeze(of, 1)? } else { of };
                c.b().pick(of, 0, at as u64)
            };
            let state = first(c, states[0])?;
            let cell = states.get(1).map(|&s| first(c, s)).transpose()?;
            let result = recurrent(c.b(), kind, x, (state, cell), &layer)?;
            both.push(result.states);
            last.0.push(result.state);
            last.1.extend(result.cell);
        }
        x = c.b().concatenate(&both, 2)?;
    }
    if is_batch_first {
        x = c.b().swap_dims(x, 0, 1)?;
    }
    if is_single {
        x = c.b().squeeze(x, usize::from(!is_batch_first))?;
    }
    let mut values = vec![Some(x)];
    for all in [last.0, last.1] {
        if !all.is_empty() {
            let stacked = c.b().stack(&all, 0)?;
            values.push(Some(if is_single { c.b().squeeze(stacked, 1)? } else { stacked }));
        }
    }
    Ok(OpResult::Many(values))
}

/// A layer, built from its weights in torch's order.
fn layer_of(own: &[InstructionId], has_biases: bool, projects: bool, is_reversed: bool) -> Layer {
    Layer {
        input_weight: own[0],
        state_weight: own[1],
        input_bias: has_biases.then(|| own[2]),
        state_bias: has_biases.then(|| own[3]),
        projection: projects.then(|| own[own.len() - 1]),
        is_reversed,
    }
}
