//! The families of operations that are known, asked one after the other.

use super::call::{Call, Done, Made};
use super::{attention, binary, create, index, mutate, norm, pool, product, recurrent, reduce, shape, unary};

type Family = fn(&mut Call<'_, '_, '_>) -> Made;

const FAMILIES: [Family; 12] = [
    shape::translate,
    unary::translate,
    binary::translate,
    product::translate,
    norm::translate,
    attention::translate,
    reduce::translate,
    pool::translate,
    index::translate,
    create::translate,
    recurrent::translate,
    mutate::translate,
];

/// What an aten operation makes; unknown when no family knows it.
///
/// # Errors
/// When its arguments do not fit it.
pub fn known(call: &mut Call<'_, '_, '_>) -> Made {
    for family in FAMILIES {
        match family(call)? {
            Done::Unknown => {}
            done => return Ok(done),
        }
    }
    Ok(Done::Unknown)
}
