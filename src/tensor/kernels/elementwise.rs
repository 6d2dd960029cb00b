//! Elementwise kernels with the broadcasting rule of NumPy and PyTorch.

use crate::{Shape, Tensor, TensorError, round_slice};

use super::broadcast_to;
use ns_base::names;

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `e^x`
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// Square root.
    Sqrt,
    /// `1 / sqrt(x)`
    Rsqrt,
    /// `x * Phi(x)`, with the error function: `torch.nn.GELU()`.
    Gelu,
    /// The derivative of `x * Phi(x)`: `Phi(x) + x * phi(x)`, phi being the density of the normal distribution.
    GeluDerivative,
    /// `1 / (1 + e^-x)`
    Logistic,
    /// `x` where positive, else zero: NaN becomes zero, as in the C++ kernel `x > 0 ? x : 0`.
    ReluKernel,
}

impl UnaryOp {
    /// The value at one element.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Self::Neg => -x,
            Self::Exp => libm::expf(x),
            Self::Log => libm::logf(x),
            Self::Tanh => libm::tanhf(x),
            Self::Sqrt => x.sqrt(),
            Self::Rsqrt => 1.0 / x.sqrt(),
            Self::Gelu => 0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2)),
            Self::GeluDerivative => {
                let distribution = 0.5 * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2));
                let density = libm::expf(-0.5 * x * x)
                    * (0.5 * std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2);
                distribution + x * density
            }
            Self::Logistic => 1.0 / (1.0 + libm::expf(-x)),
            Self::ReluKernel => {
                if x > 0.0 {
                    x
                } else {
                    0.0
                }
            }
        }
    }
}

names! {
    /// A function of two elements.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BinaryOp {
        /// `a + b`
        Add = "add",
        /// `a - b`
        Sub = "subtract",
        /// `a * b`
        Mul = "multiply",
        /// `a / b`
        Div = "divide",
        /// The larger; NaN if either is.
        Maximum = "maximum",
        /// The smaller; NaN if either is.
        Minimum = "minimum",
        /// One where `a > b`, else zero.
        Greater = "greater",
        /// One where `a == b`, else zero.
        Equal = "equal",
    }

    /// The kernel's name in errors.
    pub const fn name(self) -> &'static str;
}

impl BinaryOp {
    /// The value at one element.
    pub fn apply(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Maximum => maximum(a, b),
            Self::Minimum => minimum(a, b),
            Self::Greater => f32::from(u8::from(a > b)),
            Self::Equal => f32::from(u8::from(a.partial_cmp(&b) == Some(std::cmp::Ordering::Equal))),
        }
    }
}

/// Unlike `f32::max`, NaN wins; of equal values the second is returned, so `maximum(-0.0, 0.0)` is `0.0`.
pub(super) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() || a < b { a } else { b }
}

/// Applies a function to every element.
///
/// # Errors
/// When memory runs out.
pub fn unary(op: UnaryOp, x: &Tensor) -> Result<Tensor, TensorError> {
    let data = x.data();
    Tensor::from_fn(x.shape().clone(), |i| op.apply(data[i]))
}

/// Applies a function to pairs of elements, broadcasting both sides to a common shape.
///
/// # Errors
/// When the shapes cannot be broadcast together or the element types differ.
pub fn binary(op: BinaryOp, a: &Tensor, b: &Tensor) -> Result<Tensor, TensorError> {
    let shape = broadcast_shapes(op.name(), a.shape(), b.shape())?;
    if a.shape() != &shape {
        return binary(op, &broadcast_to(a, &shape)?, b);
    }
    if b.shape() != &shape {
        return binary(op, a, &broadcast_to(b, &shape)?);
    }
    // One loop per function, so that each is vectorised.
    let (x, y) = (a.data(), b.data());
    let mut data: Vec<f32> = match op {
        BinaryOp::Add => zip(x, y, |a, b| a + b),
        BinaryOp::Sub => zip(x, y, |a, b| a - b),
        BinaryOp::Mul => zip(x, y, |a, b| a * b),
        BinaryOp::Div => zip(x, y, |a, b| a / b),
        BinaryOp::Maximum => zip(x, y, maximum),
        BinaryOp::Minimum => zip(x, y, minimum),
        BinaryOp::Greater | BinaryOp::Equal => zip(x, y, |a, b| op.apply(a, b)),
    };
    round_slice(shape.dtype, &mut data);
    Tensor::new(shape, data)
}

fn zip(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    x.iter().zip(y).map(|(a, b)| f(*a, *b)).collect()
}

/// The common shape of two operands: trailing dimensions are aligned, a dimension of one stretches.
///
/// # Errors
/// When a pair of dimensions differs and neither is one, or the element types differ.
pub fn broadcast_shapes(op: &'static str, a: &Shape, b: &Shape) -> Result<Shape, TensorError> {
    let mismatch = |expected: String| TensorError::Mismatch { op, left: a.clone(), right: b.clone(), expected };
    if a.dtype != b.dtype {
        return Err(mismatch("expected one element type".to_owned()));
    }
    let rank = a.rank().max(b.rank());
    let at = |s: &Shape, i: usize| (i + s.rank()).checked_sub(rank).map_or(1, |j| s.dims[j]);
    let mut dims = Vec::with_capacity(rank);
    for i in 0..rank {
        let (x, y) = (at(a, i), at(b, i));
        if x != y && x != 1 && y != 1 {
            let from_end = rank - i;
            return Err(mismatch(format!("dimension -{from_end} is {x} on one side and {y} on the other")));
        }
        dims.push(if x == 1 { y } else { x });
    }
    Ok(Shape::new(a.dtype, dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(dims: &[u64], data: &[f32]) -> Tensor {
        Tensor::new(Shape::f32(dims), data.to_vec()).unwrap()
    }

    #[test]
    fn a_row_and_a_column_stretch() {
        let sum = binary(BinaryOp::Add, &t(&[2, 1], &[10.0, 20.0]), &t(&[3], &[1.0, 2.0, 3.0])).unwrap();
        assert_eq!(sum, t(&[2, 3], &[11.0, 12.0, 13.0, 21.0, 22.0, 23.0]));
    }

    #[test]
    fn a_mismatch_names_both_shapes() {
        let e = binary(BinaryOp::Mul, &t(&[2], &[1.0, 2.0]), &t(&[3], &[0.0; 3])).unwrap_err();
        assert_eq!(
            e.to_string(),
            "multiply: f32[2] does not fit f32[3]: dimension -1 is 2 on one side and 3 on the other"
        );
    }

    #[test]
    fn nan_is_kept_by_maximum_and_dropped_by_the_custom_relu() {
        assert!(BinaryOp::Maximum.apply(f32::NAN, 0.0).is_nan() && BinaryOp::Maximum.apply(0.0, f32::NAN).is_nan());
        assert!(BinaryOp::Minimum.apply(f32::NAN, 0.0).is_nan());
        assert_eq!(UnaryOp::ReluKernel.apply(f32::NAN), 0.0);
        assert_eq!(BinaryOp::Maximum.apply(-0.0, 0.0).to_bits(), 0);
    }
}
