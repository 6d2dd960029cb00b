//! Normalisations.

use super::super::{Binary, Builder, Built, ElementType, InstructionId, Op, Unary};
use super::statistic::norm;
use super::{per_channel, widened};
use ns_base::convert::{f64_to_f32, usize_to_u32};
use ns_base::{Refusal, refuse};

/// Optional factors and summands of a normalised array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Factors.
    pub weight: Option<InstructionId>,
    /// Summands.
    pub bias: Option<InstructionId>,
}

/// Normalises to mean 0 and variance 1 over the last `last` dimensions, then applies the affine map. Returns the result, the mean and the reciprocal
/// of the standard deviation; the latter two have size one in the normalised dimensions. Fails when there are fewer dimensions.
pub fn layer_norm(
    b: &mut Builder,
    x: InstructionId,
    last: usize,
    affine: Affine,
    epsilon: f64,
) -> Result<[InstructionId; 3], Refusal> {
    let (element, rank) = (b.element(x), b.rank(x));
    let Some(first) = rank.checked_sub(last) else {
        return Err(refuse!("an array of rank {rank} does not have {last} last dimensions"));
    };
    let over: Vec<usize> = (first..rank).collect();
    let wide = widened(b, x)?;
    let [normal, mean, factor] = normal(b, wide, &over, epsilon)?;
    let places: Vec<u32> = over.iter().map(|&d| usize_to_u32(d)).collect();
    let result = scaled(b, normal, affine, &places)?;
    Ok([b.convert(result, element)?, mean, factor])
}

/// `x / sqrt(mean(x^2) + epsilon)` over the last `last` dimensions, times a weight. Fails when there are fewer dimensions.
pub fn rms_norm(b: &mut Builder, x: InstructionId, last: usize, weight: Option<InstructionId>, epsilon: f64) -> Built {
    let (element, rank) = (b.element(x), b.rank(x));
    let over: Vec<usize> = (rank.saturating_sub(last)..rank).collect();
    let wide = widened(b, x)?;
    let square = b.mul(wide, wide)?;
    let mean = b.mean(square, &over, true)?;
    let sum = b.with_number(Binary::Add, mean, epsilon)?;
    let factor = b.unary(Unary::Rsqrt, sum)?;
    let normal = b.mul(wide, factor)?;
    let places: Vec<u32> = over.iter().map(|&d| usize_to_u32(d)).collect();
    let result = scaled(b, normal, Affine { weight, bias: None }, &places)?;
    b.convert(result, element)
}

/// Normalises groups of channels of `[batch, channels, ..]` to mean 0 and variance 1, then applies an affine map for each channel. With as many groups as
/// channels it is an instance norm. Fails when the number of groups does not divide the number of channels.
pub fn group_norm(
    b: &mut Builder,
    x: InstructionId,
    groups: u64,
    affine: Affine,
    epsilon: f64,
) -> Result<[InstructionId; 3], Refusal> {
    let (element, dims) = (b.element(x), b.dims(x));
    let channels = b.size(x, 1)?;
    if groups == 0 || !channels.is_multiple_of(groups) {
        return Err(refuse!("{channels} channels do not divide into {groups} groups"));
    }
    let mut apart = vec![dims[0], groups, channels / groups];
    apart.extend(&dims[2..]);
    let wide = widened(b, x)?;
    let split = b.reshape(wide, &apart)?;
    let over: Vec<usize> = (2..apart.len()).collect();
    let [normal, mean, factor] = normal(b, split, &over, epsilon)?;
    let joined = b.reshape(normal, &dims)?;
    let result = scaled(b, joined, affine, &[1])?;
    Ok([b.convert(result, element)?, mean, factor])
}

/// Normalises each channel (dimension 1) with a known mean and variance. Fails when one of the arrays does not have one number for
/// each channel.
pub fn batch_norm(
    b: &mut Builder,
    x: InstructionId,
    affine: Affine,
    mean: InstructionId,
    variance: InstructionId,
    epsilon: f64,
) -> Built {
    let ty = b.array(x)?.clone();
    let channels = b.size(x, 1)?;
    let row = b.element(mean);
    let wide = widened(b, x)?;
    let wide = b.convert(wide, row)?;
    let scale = match affine.weight {
        Some(weight) => b.convert(weight, row)?,
        None => b.full(row, &[channels], 1.0)?,
    };
    let offset = match affine.bias {
        Some(bias) => b.convert(bias, row)?,
        None => b.full(row, &[channels], 0.0)?,
    };
    for x in [scale, offset, mean, variance] {
        if b.dims(x) != [channels] || b.element(x) != row {
            let ty = b.type_of(x);
            return Err(refuse!("{ty} does not have one number for each of {channels} channels"));
        }
    }
    let op = Op::BatchNormInference { epsilon: f64_to_f32(epsilon), feature: 1 };
    let result = b.push_array(op, vec![wide, scale, offset, mean, variance], row, ty.dims)?;
    b.convert(result, ty.element)
}

/// `x` divided by its `p`-norm along a dimension; the norm is at least `epsilon`. Fails when `x` does not have the dimension.
pub fn lp_normalise(b: &mut Builder, x: InstructionId, p: f64, dimension: usize, epsilon: f64) -> Built {
    let length = norm(b, x, p, &[dimension], true)?;
    let length = b.with_number(Binary::Max, length, epsilon)?;
    b.div(x, length)
}

/// Normalises dimensions to mean 0 and variance 1; also returns the mean and the reciprocal of the standard deviation.
fn normal(b: &mut Builder, x: InstructionId, over: &[usize], epsilon: f64) -> Result<[InstructionId; 3], Refusal> {
    let mean = b.mean(x, over, true)?;
    let centred = b.sub(x, mean)?;
    let square = b.mul(centred, centred)?;
    let variance = b.mean(square, over, true)?;
    let sum = b.with_number(Binary::Add, variance, epsilon)?;
    let factor = b.unary(Unary::Rsqrt, sum)?;
    Ok([b.mul(centred, factor)?, mean, factor])
}

/// The affine map whose numbers lie along dimensions `places`.
fn scaled(b: &mut Builder, x: InstructionId, affine: Affine, places: &[u32]) -> Built {
    let (dims, element) = (b.dims(x), b.element(x));
    let mut x = x;
    for (with, row) in [(Binary::Mul, affine.weight), (Binary::Add, affine.bias)] {
        if let Some(row) = row {
            let row = spread(b, row, &dims, places, element)?;
            x = b.binary(with, x, row)?;
        }
    }
    Ok(x)
}

/// Numbers of an affine map, broadcast.
fn spread(b: &mut Builder, row: InstructionId, dims: &[u64], places: &[u32], element: ElementType) -> Built {
    let row = b.convert(row, element)?;
    match places {
        [one] => per_channel(b, row, dims, *one as usize),
        many => b.broadcast_in(row, dims, many.to_vec()),
    }
}
