//! Softmax and its logarithm.

use super::super::{Binary, Builder, Built, InstructionId, Unary};
use super::widened;
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;

/// `exp(x) / sum(exp(x))` along a dimension, with the largest element subtracted first. Fails when `x` does not have the dimension.
pub fn softmax(b: &mut Builder, x: InstructionId, dimension: usize) -> Built {
    let element = b.element(x);
    let x = widened(b, x)?;
    let (power, sum) = powers(b, x, dimension)?;
    let sum = along(b, sum, x, dimension)?;
    let share = b.div(power, sum)?;
    b.convert(share, element)
}

/// `x - log(sum(exp(x)))` along a dimension. Fails when `x` does not have the dimension.
pub fn log_softmax(b: &mut Builder, x: InstructionId, dimension: usize) -> Built {
    let element = b.element(x);
    let x = widened(b, x)?;
    let shifted = shifted(b, x, dimension)?;
    let power = b.unary(Unary::Exp, shifted)?;
    let sum = b.reduce(Binary::Add, power, &[dimension], false)?;
    let log = b.unary(Unary::Log, sum)?;
    let log = along(b, log, x, dimension)?;
    let result = b.sub(shifted, log)?;
    b.convert(result, element)
}

/// `log(sum(exp(x)))` along dimensions, which disappear or stay with size one. Fails when `x` does not have the dimension.
pub fn logsumexp(b: &mut Builder, x: InstructionId, dimensions: &[usize], keeps: bool) -> Built {
    let largest = b.reduce(Binary::Max, x, dimensions, true)?;
    let finite = b.unary(Unary::IsFinite, largest)?;
    let zero = b.number(b.element(x), 0.0)?;
    let largest = b.select(finite, largest, zero)?;
    let shifted = b.sub(x, largest)?;
    let power = b.unary(Unary::Exp, shifted)?;
    let sum = b.reduce(Binary::Add, power, dimensions, true)?;
    let log = b.unary(Unary::Log, sum)?;
    let result = b.add(log, largest)?;
    if keeps {
        return Ok(result);
    }
    let all = b.dims(result);
    let dims: Vec<u64> = all.iter().enumerate().filter(|(d, _)| !dimensions.contains(d)).map(|(_, &n)| n).collect();
    b.reshape(result, &dims)
}

/// Exponentials of `x` minus its largest element, and their sum.
fn powers(b: &mut Builder, x: InstructionId, dimension: usize) -> Result<(InstructionId, InstructionId), Refusal> {
    let shifted = shifted(b, x, dimension)?;
    let power = b.unary(Unary::Exp, shifted)?;
    let sum = b.reduce(Binary::Add, power, &[dimension], false)?;
    Ok((power, sum))
}

/// `x` minus its largest element along a dimension.
fn shifted(b: &mut Builder, x: InstructionId, dimension: usize) -> Built {
    let largest = b.reduce(Binary::Max, x, &[dimension], false)?;
    let largest = along(b, largest, x, dimension)?;
    b.sub(x, largest)
}

/// A reduced array, repeated along the dimension that disappeared.
fn along(b: &mut Builder, reduced: InstructionId, like: InstructionId, dimension: usize) -> Built {
    let dims = b.dims(like);
    let places = (0..dims.len()).filter(|&d| d != dimension).map(usize_to_u32).collect();
    b.broadcast_in(reduced, &dims, places)
}
