//! Reductions. Each combines its elements in ascending row-major order of the operand.

use crate::{Shape, Tensor, TensorError, round_slice};
use ns_base::convert::{u64_to_f32, u64_to_usize, usize_to_u32};

use super::elementwise::maximum;
use super::layout::strides;
use super::{BinaryOp, UnaryOp, binary, unary};

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum, from zero.
    Sum,
    /// Maximum, from minus infinity; NaN wins.
    Max,
    /// Minimum, from infinity; NaN wins.
    Min,
    /// Product, from one.
    Product,
}

impl ReduceOp {
    /// The initial value of a reduction.
    pub const fn start(self) -> f32 {
        match self {
            Self::Sum => 0.0,
            Self::Max => f32::NEG_INFINITY,
            Self::Min => f32::INFINITY,
            Self::Product => 1.0,
        }
    }

    /// The accumulated value combined with one more element.
    pub fn combine(self, value: f32, element: f32) -> f32 {
        match self {
            Self::Sum => value + element,
            Self::Max => maximum(value, element),
            Self::Min => -maximum(-value, -element),
            Self::Product => value * element,
        }
    }
}

/// Combines the elements along `dimensions` (ascending), which disappear from the result.
///
/// # Errors
/// When a dimension does not exist or the list is not strictly ascending.
pub fn reduce(op: ReduceOp, x: &Tensor, dimensions: &[u32]) -> Result<Tensor, TensorError> {
    let rank = x.shape().rank();
    if dimensions.iter().any(|&d| d as usize >= rank) || dimensions.windows(2).any(|w| w[0] >= w[1]) {
        return Err(TensorError::Dimensions {
            op: "reduce",
            dimensions: dimensions.iter().map(|d| u64::from(*d)).collect(),
            shape: x.shape().clone(),
            expected: "expected distinct dimensions of the operand, ascending",
        });
    }
    let kept: Vec<usize> = (0..rank).filter(|i| !dimensions.contains(&usize_to_u32(*i))).collect();
    let shape = Shape::new(x.shape().dtype, kept.iter().map(|&i| x.dims()[i]).collect::<Vec<_>>());
    let mut steps = vec![0u64; rank];
    for (&i, stride) in kept.iter().zip(strides(&shape.dims)) {
        steps[i] = stride;
    }
    let mut data = vec![op.start(); u64_to_usize(shape.elements())];
    let mut index = vec![0u64; rank];
    let mut at = 0u64;
    for &v in x.data() {
        let slot = &mut data[u64_to_usize(at)];
        *slot = op.combine(*slot, v);
        for i in (0..rank).rev() {
            index[i] += 1;
            at += steps[i];
            if index[i] < x.dims()[i] {
                break;
            }
            at -= steps[i] * x.dims()[i];
            index[i] = 0;
        }
    }
    round_slice(shape.dtype, &mut data);
    Tensor::new(shape, data)
}

/// The mean of all elements, a scalar: their sum times the reciprocal of their number, as the compiler computes it.
///
/// # Errors
/// When memory runs out.
pub fn mean(x: &Tensor) -> Result<Tensor, TensorError> {
    let dimensions: Vec<u32> = (0..usize_to_u32(x.shape().rank())).collect();
    let sum = reduce(ReduceOp::Sum, x, &dimensions)?;
    let factor = Tensor::splat(sum.shape().clone(), 1.0 / u64_to_f32(x.shape().elements()))?;
    binary(BinaryOp::Mul, &sum, &factor)
}

/// The logarithm of the softmax along one dimension: `x - max - log(sum(exp(x - max)))`.
///
/// # Errors
/// When the dimension does not exist.
pub fn log_softmax(x: &Tensor, dimension: u32) -> Result<Tensor, TensorError> {
    let mut keep = x.shape().clone();
    let max = reduce(ReduceOp::Max, x, &[dimension])?;
    keep.dims[dimension as usize] = 1;
    let shifted = binary(BinaryOp::Sub, x, &max.reshaped(keep.clone())?)?;
    let sum = reduce(ReduceOp::Sum, &unary(UnaryOp::Exp, &shifted)?, &[dimension])?;
    let log = unary(UnaryOp::Log, &sum)?.reshaped(keep)?;
    binary(BinaryOp::Sub, &shifted, &log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_along_either_dimension_and_both() {
        let x = Tensor::from_fn(Shape::f32([2, 3]), |i| i as f32).unwrap();
        assert_eq!(reduce(ReduceOp::Sum, &x, &[0]).unwrap().data(), [3.0, 5.0, 7.0]);
        assert_eq!(reduce(ReduceOp::Sum, &x, &[1]).unwrap().data(), [3.0, 12.0]);
        assert_eq!(reduce(ReduceOp::Max, &x, &[0, 1]).unwrap().data(), [5.0]);
        assert_eq!(mean(&x).unwrap().data(), [2.5]);
        assert!(reduce(ReduceOp::Sum, &x, &[2]).is_err() && reduce(ReduceOp::Sum, &x, &[1, 0]).is_err());
    }

    #[test]
    fn the_order_is_ascending() {
        // 1e8 absorbs each 1 that is added after it, but not those added before it.
        let x = |v: [f32; 4]| Tensor::new(Shape::f32([4]), v.to_vec()).unwrap();
        assert_eq!(reduce(ReduceOp::Sum, &x([1e8, 1.0, 1.0, -1e8]), &[0]).unwrap().data(), [0.0]);
        assert_eq!(reduce(ReduceOp::Sum, &x([4.0, 4.0, 1e8, -1e8]), &[0]).unwrap().data(), [8.0]);
    }

    #[test]
    fn log_softmax_rows_are_distributions_even_for_large_values() {
        let x = Tensor::new(Shape::f32([2, 3]), vec![1000.0, 1001.0, 1002.0, -5.0, 0.0, 5.0]).unwrap();
        let y = log_softmax(&x, 1).unwrap();
        for row in y.data().chunks(3) {
            let total: f32 = row.iter().map(|v| libm::expf(*v)).sum();
            assert!((total - 1.0).abs() < 1e-6, "{row:?}");
        }
        assert!((y.data()[2] + 0.407_606).abs() < 1e-5);
    }
}
