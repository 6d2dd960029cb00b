//! Operations that only write: what they give is written to their first operand.

use super::call::{Call, Done, Made, one};

/// Translates writes.
///
/// # Errors
/// When arguments do not fit.
pub fn translate(c: &mut Call<'_, '_, '_>) -> Made {
    match c.op {
        "copy" | "fill" => {
            let x = c.x(0)?;
            let ty = c.b().array(x)?.clone();
            let value = c.operand(1, ty.element)?;
            one(c.b().broadcast_to(value, &ty.dims)?)
        }
        _ => Ok(Done::Unknown),
    }
}
