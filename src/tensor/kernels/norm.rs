//! Normalisations, composed of the other kernels in the order in which the compiler emits them.

use crate::{Shape, Tensor, TensorError};
use ns_base::convert::{u64_to_f32, usize_to_u32};

use super::{BinaryOp, ReduceOp, UnaryOp, binary, reduce, unary};

/// The softmax along one dimension: `e^(x - max) / sum(e^(x - max))`.
///
/// # Errors
/// When the dimension does not exist.
pub fn softmax(x: &Tensor, dimension: u32) -> Result<Tensor, TensorError> {
    let mut keep = x.shape().clone();
    let max = reduce(ReduceOp::Max, x, &[dimension])?;
    keep.dims[dimension as usize] = 1;
    let shifted = binary(BinaryOp::Sub, x, &max.reshaped(keep.clone())?)?;
    let exp = unary(UnaryOp::Exp, &shifted)?;
    let sum = reduce(ReduceOp::Sum, &exp, &[dimension])?;
    binary(BinaryOp::Div, &exp, &sum.reshaped(keep)?)
}

/// The mean along `dimensions` (ascending): the sum times the reciprocal of the number of elements.
///
/// # Errors
/// When a dimension does not exist.
pub fn mean_dims(x: &Tensor, dimensions: &[u32]) -> Result<Tensor, TensorError> {
    let sum = reduce(ReduceOp::Sum, x, dimensions)?;
    let count: u64 = dimensions.iter().map(|&d| x.dims()[d as usize]).product();
    scalar(BinaryOp::Mul, &sum, 1.0 / u64_to_f32(count))
}

/// Layer normalisation over the last dimension: `(x - mean) / sqrt(variance + eps) * weight + bias`.
///
/// # Errors
/// When the operand has no dimension, or the weights do not fit it.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, eps: f32) -> Result<Tensor, TensorError> {
    let last = usize_to_u32(x.shape().rank()).wrapping_sub(1);
    let mut keep = x.shape().clone();
    let mean = mean_dims(x, &[last])?;
    keep.dims[last as usize] = 1;
    let centred = binary(BinaryOp::Sub, x, &mean.reshaped(keep.clone())?)?;
    let variance = mean_dims(&binary(BinaryOp::Mul, &centred, &centred)?, &[last])?;
    let scale = unary(UnaryOp::Rsqrt, &scalar(BinaryOp::Add, &variance, eps)?)?;
    let normal = binary(BinaryOp::Mul, &centred, &scale.reshaped(keep)?)?;
    binary(BinaryOp::Add, &binary(BinaryOp::Mul, &normal, weight)?, bias)
}

/// Batch normalisation at inference, for `[n, c, ..]` with statistics of `[c]`: one scale and one shift per channel.
///
/// # Errors
/// When the statistics do not fit the operand.
pub fn batch_norm(x: &Tensor, [weight, bias, mean, variance]: [&Tensor; 4], eps: f32) -> Result<Tensor, TensorError> {
    let scale = unary(UnaryOp::Rsqrt, &scalar(BinaryOp::Add, variance, eps)?)?;
    let scale = binary(BinaryOp::Mul, weight, &scale)?;
    let shift = binary(BinaryOp::Sub, bias, &binary(BinaryOp::Mul, mean, &scale)?)?;
    let mut column = vec![1u64; x.shape().rank().saturating_sub(1)];
    if let Some(channels) = column.first_mut() {
        *channels = scale.shape().elements();
    }
    let column = Shape::new(x.shape().dtype, column);
    let scaled = binary(BinaryOp::Mul, x, &scale.reshaped(column.clone())?)?;
    binary(BinaryOp::Add, &scaled, &shift.reshaped(column)?)
}

/// An elementwise function with one number as its second operand.
///
/// # Errors
/// When memory runs out.
pub fn scalar(op: BinaryOp, x: &Tensor, value: f32) -> Result<Tensor, TensorError> {
    binary(op, x, &Tensor::splat(Shape::new(x.shape().dtype, []), value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(dims: &[u64], f: impl Fn(usize) -> f32) -> Tensor {
        Tensor::from_fn(Shape::f32(dims), f).unwrap()
    }

    #[test]
    fn softmax_is_its_formula() {
        let x = t(&[2, 3], |i| [1.0, 2.0, 3.0, 1000.0, 1000.0, 1000.0][i]);
        let y = softmax(&x, 1).unwrap();
        let total: f64 = [1.0f64, 2.0, 3.0].iter().map(|v| libm::exp(*v)).sum();
        for (found, v) in y.data().iter().zip([1.0f64, 2.0, 3.0]) {
            assert!((f64::from(*found) - libm::exp(v) / total).abs() < 1e-6);
        }
        assert!(y.data()[3..].iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-6));
    }

    #[test]
    fn layer_norm_is_its_formula() {
        let x = t(&[2, 4], |i| (i * i) as f32 * 0.3 - 1.0);
        let (w, b) = (t(&[4], |i| 1.0 + i as f32), t(&[4], |i| i as f32 - 2.0));
        let y = layer_norm(&x, &w, &b, 1e-5).unwrap();
        for (row, out) in x.data().chunks(4).zip(y.data().chunks(4)) {
            let mean: f64 = row.iter().map(|v| f64::from(*v)).sum::<f64>() / 4.0;
            let variance = row.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / 4.0;
            for i in 0..4 {
                let normal = (f64::from(row[i]) - mean) / (variance + 1e-5).sqrt();
                let expected = normal * (1.0 + i as f64) + i as f64 - 2.0;
                assert!((f64::from(out[i]) - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn batch_norm_is_its_formula() {
        let x = t(&[2, 3, 1, 2], |i| i as f32 * 0.5 - 2.0);
        let [w, b, m, v] = [1.5f32, -0.5, 0.25, 2.0].map(|s| t(&[3], move |i| s + i as f32 * 0.5));
        let y = batch_norm(&x, [&w, &b, &m, &v], 1e-5).unwrap();
        for (i, out) in y.data().iter().enumerate() {
            let c = i / 2 % 3;
            let at = |t: &Tensor| f64::from(t.data()[c]);
            let normal = (f64::from(x.data()[i]) - at(&m)) / (at(&v) + 1e-5).sqrt();
            assert!((f64::from(*out) - (normal * at(&w) + at(&b))).abs() < 1e-5);
        }
    }

    #[test]
    fn means_along_dimensions() {
        let x = t(&[1, 2, 2, 2], |i| i as f32);
        assert_eq!(mean_dims(&x, &[2, 3]).unwrap().data(), [1.5, 5.5]);
        assert!(mean_dims(&x, &[4]).is_err());
    }
}
