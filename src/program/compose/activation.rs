//! Activation functions, as PyTorch defines them.

use super::super::{Binary, Builder, Built, Comparison, InstructionId, Unary};
use super::widened;

/// Constants of the exponential linear unit `x > 0 ? scale x : scale alpha (exp(inner x) - 1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elu {
    /// The negative of the limit for `x` far below 0.
    pub alpha: f64,
    /// Factor of the result.
    pub scale: f64,
    /// Factor of the exponential's operand.
    pub inner: f64,
}

/// `max(x, 0)`. Fails when `x` is not an array.
pub fn relu(b: &mut Builder, x: InstructionId) -> Built {
    b.with_number(Binary::Max, x, 0.0)
}

/// The Gaussian error linear unit with the error function: `x/2 (1 + erf(x/sqrt 2))`. Fails when `x` is not an array.
pub fn gelu_erf(b: &mut Builder, x: InstructionId) -> Built {
    let element = b.element(x);
    let x = widened(b, x)?;
    let inner = b.with_number(Binary::Mul, x, std::f64::consts::FRAC_1_SQRT_2)?;
    let erf = b.unary(Unary::Erf, inner)?;
    let sum = b.with_number(Binary::Add, erf, 1.0)?;
    let half = b.with_number(Binary::Mul, x, 0.5)?;
    let product = b.mul(half, sum)?;
    b.convert(product, element)
}

/// The Gaussian error linear unit with the hyperbolic tangent: `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`. Fails when `x` is
/// not an array.
pub fn gelu_tanh(b: &mut Builder, x: InstructionId) -> Built {
    let element = b.element(x);
    let x = widened(b, x)?;
    let square = b.mul(x, x)?;
    let cube = b.mul(square, x)?;
    let small = b.with_number(Binary::Mul, cube, 0.044_715)?;
    let sum = b.add(x, small)?;
    let inner = b.with_number(Binary::Mul, sum, std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2)?;
    let tanh = b.unary(Unary::Tanh, inner)?;
    let sum = b.with_number(Binary::Add, tanh, 1.0)?;
    let half = b.with_number(Binary::Mul, x, 0.5)?;
    let product = b.mul(half, sum)?;
    b.convert(product, element)
}

/// `x / (1 + exp(-x))`. Fails when `x` is not an array.
pub fn silu(b: &mut Builder, x: InstructionId) -> Built {
    let gate = b.unary(Unary::Logistic, x)?;
    b.mul(x, gate)
}

/// `log(1 + exp(beta x)) / beta`, computed without overflow. Fails when `x` is not an array.
pub fn softplus(b: &mut Builder, x: InstructionId, beta: f64) -> Built {
    let scaled = if beta == 1.0 { x } else { b.with_number(Binary::Mul, x, beta)? };
    let positive = relu(b, scaled)?;
    let size = b.unary(Unary::Abs, scaled)?;
    let minus = b.unary(Unary::Neg, size)?;
    let small = b.unary(Unary::Exp, minus)?;
    let rest = b.unary(Unary::Log1p, small)?;
    let sum = b.add(positive, rest)?;
    if beta == 1.0 { Ok(sum) } else { b.with_number(Binary::Div, sum, beta) }
}

/// `-log(1 + exp(-x))`. Fails when `x` is not an array.
pub fn log_sigmoid(b: &mut Builder, x: InstructionId) -> Built {
    let minus = b.unary(Unary::Neg, x)?;
    let plus = softplus(b, minus, 1.0)?;
    b.unary(Unary::Neg, plus)
}

/// `x tanh(softplus(x))`. Fails when `x` is not an array.
pub fn mish(b: &mut Builder, x: InstructionId) -> Built {
    let plus = softplus(b, x, 1.0)?;
    let gate = b.unary(Unary::Tanh, plus)?;
    b.mul(x, gate)
}

/// `x / (1 + |x|)`. Fails when `x` is not an array.
pub fn softsign(b: &mut Builder, x: InstructionId) -> Built {
    let size = b.unary(Unary::Abs, x)?;
    let sum = b.with_number(Binary::Add, size, 1.0)?;
    b.div(x, sum)
}

/// The exponential linear unit. Fails when `x` is not an array.
pub fn elu(b: &mut Builder, x: InstructionId, numbers: Elu) -> Built {
    let Elu { alpha, scale, inner } = numbers;
    let times = |b: &mut Builder, x, by: f64| if by == 1.0 { Ok(x) } else { b.with_number(Binary::Mul, x, by) };
    let is_positive = b.compare_number(Comparison::Gt, x, 0.0)?;
    let right = times(b, x, scale)?;
    let scaled = times(b, x, inner)?;
    let curve = b.unary(Unary::ExpM1, scaled)?;
    let left = times(b, curve, alpha * scale)?;
    b.select(is_positive, right, left)
}

/// The exponential linear unit that keeps mean 0 and variance 1. Fails when `x` is not an array.
pub fn selu(b: &mut Builder, x: InstructionId) -> Built {
    // Numbers of Klambauer et al., "Self-Normalizing Neural Networks" (2017), as torch has them.
    elu(b, x, Elu { alpha: 1.673_263_242_354_377_2, scale: 1.050_700_987_355_480_5, inner: 1.0 })
}

/// The exponential linear unit that is smooth at 0 for every `alpha`. Fails when `x` is not an array.
pub fn celu(b: &mut Builder, x: InstructionId, alpha: f64) -> Built {
    elu(b, x, Elu { alpha, scale: 1.0, inner: 1.0 / alpha })
}

/// `x` above 0, `slope x` below; the slope is an array that broadcasts. Fails when sizes do not fit.
pub fn leaky_relu(b: &mut Builder, x: InstructionId, slope: InstructionId) -> Built {
    let is_positive = b.compare_number(Comparison::Gt, x, 0.0)?;
    let left = b.mul(x, slope)?;
    b.select(is_positive, x, left)
}

/// `clamp(slope x + offset, 0, 1)`. Fails when `x` is not an array.
pub fn hard_sigmoid(b: &mut Builder, x: InstructionId, slope: f64, offset: f64) -> Built {
    let line = b.with_number(Binary::Mul, x, slope)?;
    let line = b.with_number(Binary::Add, line, offset)?;
    b.clamp_numbers(line, Some(0.0), Some(1.0))
}

/// `x clamp(x/6 + 1/2, 0, 1)`. Fails when `x` is not an array.
pub fn hard_swish(b: &mut Builder, x: InstructionId) -> Built {
    let gate = hard_sigmoid(b, x, 1.0 / 6.0, 0.5)?;
    b.mul(x, gate)
}

/// The first half of a dimension times the logistic function of the second. Fails when the dimension is odd.
pub fn glu(b: &mut Builder, x: InstructionId, dimension: usize) -> Built {
    let half = b.size(x, dimension)? / 2;
    let parts = b.split(x, dimension, &[half, half])?;
    let gate = b.unary(Unary::Logistic, parts[1])?;
    b.mul(parts[0], gate)
}
