//! What weights and constants alone give: it is computed when the model is loaded.

use super::flat::{Flat, FlatId};
use crate::import::program::{Numbers, Op, Program, Role, Value};

/// How a value that no input reaches is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    /// It depends on an input.
    No,
    /// One number everywhere.
    Splat(f64),
    /// A weight of the program, by its number, as it is.
    Weight(u32),
    /// A weight that is turned or viewed; what of is the operation's first operand.
    View,
    /// Anything else: computed at load.
    Computed,
}

/// For each operation how it is given.
pub(super) fn given(program: &Program, flat: &Flat) -> Vec<Given> {
    let mut all: Vec<Given> = Vec::with_capacity(flat.nodes.len());
    for node in &flat.nodes {
        let operand = |n: usize| node.operands.get(n).map(|&o: &FlatId| &all[o]);
        let is_given = node.operands.iter().all(|&o| all[o] != Given::No);
        let how = match (&node.op, operand(0)) {
            (Op::Parameter(n), _) => match program.parameters.get(*n as usize).map(|p| &p.role) {
                Some(Role::Weight | Role::Buffer) => Given::Weight(*n),
                _ => Given::No,
            },
            _ if !is_given => Given::No,
            (Op::Constant(value), _) => splat(value).map_or(Given::Computed, Given::Splat),
            (
                Op::Broadcast { .. } | Op::Reshape | Op::Convert | Op::Transpose { .. } | Op::Slice { .. },
                Some(Given::Splat(v)),
            ) => Given::Splat(*v),
            (Op::Transpose { .. } | Op::Reshape, Some(Given::Weight(_) | Given::View)) => Given::View,
            (Op::Rng { .. } | Op::RngBitGenerator { .. }, _) => Given::No,
            _ => node.known.as_ref().and_then(splat).map_or(Given::Computed, Given::Splat),
        };
        all.push(how);
    }
    all
}

/// The number that every element has.
fn splat(value: &Value) -> Option<f64> {
    match &value.numbers {
        Numbers::Real(v) => v.first().copied().filter(|f| v.iter().all(|x| x.to_bits() == f.to_bits())),
        Numbers::Whole(v) => v.first().copied().filter(|f| v.iter().all(|x| x == f)).map(|v| v as f64),
        Numbers::Complex(_) => None,
    }
}
