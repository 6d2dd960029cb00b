//! Products of groups of rows, each with a matrix of its own: experts that share a batch of tokens.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_program::OperatorKind::Product;
use ns_program::{Binary, Built, Comparison, ElementType, InstructionId};

/// Products that depend on where groups end.
pub const OPS: &[Row] = &[(&["_grouped_mm"], Product, product)];

/// The ends of the groups are data and the sizes of a program are not, so each row meets the matrices of all groups, and is zero for all but its
/// own. Matrices in three dimensions have a group each, rows or columns in two dimensions belong to the group that they lie in.
pub fn product(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, b) = (c.x(0)?, c.x(1)?);
    let Some(ends) = c.tensor("offs")? else { return one(c.b().matmul(a, b)?) };
    let element = c.b().element(a);
    let value = match (c.b().rank(a), c.b().rank(b)) {
        (2, 3) => {
            let a = of_groups(c, a, ends, 0)?;
            let a = c.b().transpose(a, &[1, 0, 2])?;
            joined(c, a, b)?
        }
        (3, 2) => {
            let a = c.b().transpose(a, &[1, 0, 2])?;
            let b = of_groups(c, b, ends, 1)?;
            joined(c, a, b)?
        }
        (2, 2) => {
            let a = of_groups(c, a, ends, 1)?;
            c.b().matmul(a, b)?
        }
        _ => return Ok(OpResult::Unknown),
    };
    one(c.b().convert(value, element)?)
}

/// A matrix once for each group, with zeros where its rows, or along `dimension` its columns, belong to another one.
fn of_groups(c: &mut Call<'_, '_, '_>, x: InstructionId, ends: InstructionId, dimension: usize) -> Built {
    let (element, size) = (c.b().element(x), c.b().size(x, dimension)?);
    let ends = c.b().convert(ends, ElementType::S32)?;
    let ends = c.b().unsqueeze(ends, 1)?;
    let places = c.b().iota(ElementType::S32, &[size], 0)?;
    let is_below = c.b().compare(Comparison::Lt, places, ends)?;
    let is_below = c.b().convert(is_below, element)?;
    let is_earlier = c.b().pad(is_below, 0.0, &[(1, -1), (0, 0)])?;
    let own = c.b().binary(Binary::Sub, is_below, is_earlier)?;
    let own = c.b().unsqueeze(own, 2 - dimension)?;
    let x = c.b().unsqueeze(x, 0)?;
    c.b().mul(x, own)
}

/// The sum over groups of products of `[m, group, k]` and `[group, k, n]`.
fn joined(c: &mut Call<'_, '_, '_>, a: InstructionId, b: InstructionId) -> Built {
    let (left, right) = (c.b().dims(a), c.b().dims(b));
    let a = c.b().reshape(a, &[left[0], left[1].saturating_mul(left[2])])?;
    let b = c.b().reshape(b, &[right[0].saturating_mul(right[1]), right[2]])?;
    c.b().matmul(a, b)
}
