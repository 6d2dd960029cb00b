//! Values that depend on weights and constants alone: they are computed when the model is loaded.

use super::flatten::{Flat, FlatId, FlatNode};
use ns_base::convert::usize_to_u32;
use ns_program::{Op, Program, Role};

/// How a value that does not depend on an input is provided.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConstantForm {
    /// It depends on an input.
    No,
    /// One number in every element.
    Splat(f64),
    /// A weight of the program, unchanged, by its number.
    Weight(u32),
    /// A weight that is transposed or viewed; the weight is the operation's first operand.
    View,
    /// A given value, broadcast along the dimensions that it lacks.
    Repeated {
        of: FlatId,
        /// The dimensions along which it lies, without those of size one: one for a vector, none for a single number.
        along: Vec<u32>,
    },
    /// Anything else: computed at load.
    Computed,
}

/// How each operation's value is given.
pub(super) fn constant_forms(program: &Program, flat: &Flat) -> Vec<ConstantForm> {
    let mut all: Vec<ConstantForm> = Vec::with_capacity(flat.nodes.len());
    for node in &flat.nodes {
        let how = constant_form(program, flat, node, &all);
        all.push(how);
    }
    all
}

fn constant_form(program: &Program, flat: &Flat, node: &FlatNode, all: &[ConstantForm]) -> ConstantForm {
    if let Some(value) = node.splat {
        return ConstantForm::Splat(value);
    }
    if let Op::Parameter(n) = &node.op {
        return match program.parameters.get(*n as usize).map(|p| &p.role) {
            Some(Role::Weight | Role::Buffer) => ConstantForm::Weight(*n),
            _ => ConstantForm::No,
        };
    }
    let is_random = matches!(node.op, Op::Rng { .. } | Op::RngBitGenerator { .. });
    if is_random || node.operands.iter().any(|&o| all[o] == ConstantForm::No) {
        return ConstantForm::No;
    }
    if let Some((of, along)) = repeated(flat, node, all) {
        return ConstantForm::Repeated { of, along };
    }
    let first = node.operands.first().map(|&o| &all[o]);
    let is_view = match &node.op {
        Op::Transpose { .. } | Op::Reshape => true,
        // No element is repeated: the new dimensions have size one.
        Op::Broadcast { dimensions } => {
            dimensions.is_sorted() && node.operands.first().is_some_and(|&o| elements(flat, o) == node.ty.elements())
        }
        _ => false,
    };
    match first {
        Some(ConstantForm::Weight(_) | ConstantForm::View) if is_view => ConstantForm::View,
        _ => ConstantForm::Computed,
    }
}

fn elements(flat: &Flat, id: FlatId) -> Option<u64> {
    flat.nodes[id].ty.elements()
}

/// The value behind a broadcast, or behind a transpose or view of one, and the dimensions along which it lies.
fn repeated(flat: &Flat, node: &FlatNode, all: &[ConstantForm]) -> Option<(FlatId, Vec<u32>)> {
    let &[operand] = node.operands.as_slice() else { return None };
    if !matches!(node.op, Op::Broadcast { .. } | Op::Transpose { .. } | Op::Convert | Op::Reshape) {
        return None;
    }
    let from = &flat.nodes[operand].ty.dims;
    let grows = matches!(node.op, Op::Broadcast { .. }) && elements(flat, operand) < node.ty.elements();
    let (of, along) = match &all[operand] {
        ConstantForm::Repeated { of, along } => (*of, along.clone()),
        ConstantForm::Weight(_) | ConstantForm::View | ConstantForm::Computed if from.len() <= 1 || grows => {
            (operand, (0u32..).zip(from).filter(|(_, size)| **size != 1).map(|(d, _)| d).collect())
        }
        _ => return None,
    };
    let moved = along.iter().map(|&d| moved_to(node, from, d)).collect::<Option<Vec<u32>>>()?;
    Some((of, moved))
}

/// The position of the operand's dimension in the result.
fn moved_to(node: &FlatNode, from: &[u64], along: u32) -> Option<u32> {
    let to = &node.ty.dims;
    let size = *from.get(along as usize)?;
    let at = match &node.op {
        Op::Broadcast { dimensions } => *dimensions.get(along as usize)?,
        Op::Transpose { permutation } => usize_to_u32(permutation.iter().position(|&p| p == along)?),
        Op::Convert => along,
        Op::Reshape => {
            let behind = |dims: &[u64], d: usize| dims[d + 1..].iter().product::<u64>();
            let wanted = behind(from, along as usize);
            usize_to_u32((0..to.len()).find(|&d| to[d] == size && behind(to, d) == wanted)?)
        }
        _ => return None,
    };
    (to.get(at as usize) == Some(&size)).then_some(at)
}
