//! The known families of operations, tried one after the other.

use super::call::{Call, Done, Made};
use super::{
    algebra, attention, binary, create, diagonal, encoder, index, linear_systems, loss, margin, norm, order, placed,
    pool, product, quantise, random, recurrent, reduce, shape, special, spectral, unary,
};
use crate::OperatorKind;

type Family = fn(&mut Call<'_, '_, '_>) -> Made;

/// Each family, with the kind of work of its operations.
const FAMILIES: [(OperatorKind, Family); 24] = [
    (OperatorKind::Movement, shape::translate),
    (OperatorKind::Function, unary::translate),
    (OperatorKind::Elementwise, binary::translate),
    (OperatorKind::Product, product::translate),
    (OperatorKind::Norm, norm::translate),
    (OperatorKind::Product, attention::translate),
    (OperatorKind::Product, encoder::translate),
    (OperatorKind::Reduction, reduce::translate),
    (OperatorKind::Window, pool::translate),
    (OperatorKind::Indexing, index::translate),
    (OperatorKind::Creation, create::translate),
    (OperatorKind::Recurrence, recurrent::translate),
    (OperatorKind::Reduction, loss::translate),
    (OperatorKind::Movement, diagonal::translate),
    (OperatorKind::Product, algebra::translate),
    (OperatorKind::Product, linear_systems::translate),
    (OperatorKind::Reduction, margin::translate),
    (OperatorKind::Reduction, order::translate),
    (OperatorKind::Function, special::translate),
    (OperatorKind::Function, spectral::translate),
    (OperatorKind::Indexing, placed::translate),
    (OperatorKind::Quantisation, quantise::translate),
    (OperatorKind::Creation, random::translate),
    (OperatorKind::Elementwise, random::dropout),
];

/// The result of an aten operation; unknown if no family has it.
///
/// # Errors
/// When its arguments do not fit.
pub fn known(call: &mut Call<'_, '_, '_>) -> Made {
    for (_, family) in FAMILIES {
        match family(call)? {
            Done::Unknown => {}
            done => return Ok(done),
        }
    }
    Ok(Done::Unknown)
}

/// The kind of work of an operation; `None` if no family has it. A family that has the operation gives a result or reports what is missing.
#[cfg(test)]
pub fn kind_of(call: &mut Call<'_, '_, '_>) -> Option<OperatorKind> {
    FAMILIES.into_iter().find(|(_, family)| !matches!(family(call), Ok(Done::Unknown))).map(|(kind, _)| kind)
}
