//! Types of results that the file does not give, by the rules of torch's own shape functions.
//!
//! Only operations whose translation needs the result type are here; the others get the type of the value that they make.

mod elements;
mod factors;
mod places;
mod sizes;

pub use elements::scalar_type;
pub use factors::types as factor_types;

use super::call::Call;
use ns_base::{Refusal, refuse};
use ns_program::ArrayType;

/// Types of the results of an operation.
type Types = Result<Option<Vec<ArrayType>>, Refusal>;

/// Types of all results of an operation, from its operands. Fails when an operand is missing or does not fit.
pub fn result_types(c: &mut Call<'_, '_, '_>) -> Result<Vec<ArrayType>, Refusal> {
    for family in [sizes::types, places::types, factors::types, elements::types] {
        if let Some(types) = family(c)? {
            return Ok(types);
        }
    }
    // Functions of one operand keep its type.
    operand(c, 0).map(|ty| vec![ty])
}

/// The type of the tensor at a position.
fn operand(c: &mut Call<'_, '_, '_>, place: usize) -> Result<ArrayType, Refusal> {
    let x = c.x(place)?;
    c.b().array(x).cloned()
}

/// A size, which is not negative.
fn natural(n: i64) -> Result<u64, Refusal> {
    u64::try_from(n).map_err(|_| refuse!("a size is {n} and must not be negative"))
}

/// Sizes by name, none of them negative.
fn sizes_named(c: &Call<'_, '_, '_>, name: &'static str) -> Result<Vec<u64>, Refusal> {
    let all = c.ints(name).ok_or_else(|| c.missing(name))?;
    all.into_iter().map(natural).collect()
}

/// A result of these sizes with the element type of the first operand.
fn like_first(c: &mut Call<'_, '_, '_>, dims: Vec<u64>) -> Types {
    let element = operand(c, 0)?.element;
    Ok(Some(vec![ArrayType::new(element, dims)]))
}
