//! Kernels that move elements without computing.

use crate::{DType, Shape, Tensor, TensorError};
use ns_base::convert::{u64_to_usize, usize_to_u32};

/// Permutes dimensions: result dimension `i` is operand dimension `permutation[i]`.
///
/// # Errors
/// When `permutation` is not a permutation of the operand's dimensions.
pub fn transpose(x: &Tensor, permutation: &[u32]) -> Result<Tensor, TensorError> {
    let rank = x.shape().rank();
    let mut seen = vec![false; rank];
    let valid = permutation.len() == rank
        && permutation.iter().all(|&p| seen.get_mut(p as usize).is_some_and(|s| !std::mem::replace(s, true)));
    if !valid {
        return Err(TensorError::Dimensions {
            op: "transpose",
            dimensions: permutation.iter().map(|p| u64::from(*p)).collect(),
            shape: x.shape().clone(),
            expected: "expected each dimension once",
        });
    }
    let strides = strides(x.dims());
    let dims: Vec<u64> = permutation.iter().map(|&p| x.dims()[p as usize]).collect();
    let steps: Vec<u64> = permutation.iter().map(|&p| strides[p as usize]).collect();
    gather(x, Shape::new(x.shape().dtype, dims), &steps)
}

/// Repeats an operand: operand dimension `i` becomes result dimension `dimensions[i]`, others repeat; an operand
/// dimension of size one repeats too.
///
/// # Errors
/// When `dimensions` does not name a result dimension of fitting size for each operand dimension, ascending.
pub fn broadcast_in_dim(x: &Tensor, shape: &Shape, dimensions: &[u32]) -> Result<Tensor, TensorError> {
    let strides = strides(x.dims());
    let mut steps = vec![0u64; shape.rank()];
    let ascending = dimensions.windows(2).all(|w| w[0] < w[1]);
    let fits = |(i, &d): (usize, &u32)| {
        shape.dims.get(d as usize).is_some_and(|&size| x.dims()[i] == size || x.dims()[i] == 1)
    };
    if dimensions.len() != x.shape().rank() || !ascending || !dimensions.iter().enumerate().all(fits) {
        return Err(TensorError::Mismatch {
            op: "broadcast",
            left: x.shape().clone(),
            right: shape.clone(),
            expected: format!(
                "dimensions {dimensions:?} must place each operand dimension, ascending, on one of its size"
            ),
        });
    }
    for (i, &d) in dimensions.iter().enumerate() {
        if x.dims()[i] != 1 {
            steps[d as usize] = strides[i];
        }
    }
    gather(x, Shape::new(x.shape().dtype, shape.dims.clone()), &steps)
}

/// Broadcasts an operand to a shape by the trailing-dimension rule.
///
/// # Errors
/// When it cannot be broadcast to the shape.
pub fn broadcast_to(x: &Tensor, shape: &Shape) -> Result<Tensor, TensorError> {
    let lead = usize_to_u32(shape.rank().saturating_sub(x.shape().rank()));
    let dimensions: Vec<u32> = (0..usize_to_u32(x.shape().rank())).map(|i| i + lead).collect();
    broadcast_in_dim(x, shape, &dimensions)
}

/// The same values in another element type.
///
/// # Errors
/// When memory runs out.
pub fn convert(x: &Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let data = x.data();
    Tensor::from_fn(Shape::new(dtype, x.dims().to_vec()), |i| data[i])
}

/// Row-major strides in elements.
pub(super) fn strides(dims: &[u64]) -> Vec<u64> {
    let mut strides = vec![1u64; dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(dims[i]);
    }
    strides
}

/// Reads `x` along the given step of each result dimension.
fn gather(x: &Tensor, shape: Shape, steps: &[u64]) -> Result<Tensor, TensorError> {
    let data = x.data();
    let dims = shape.dims.clone();
    let mut index = vec![0u64; dims.len()];
    let mut at = 0u64;
    Tensor::from_fn(shape, |_| {
        let value = data[u64_to_usize(at)];
        for i in (0..dims.len()).rev() {
            index[i] += 1;
            at += steps[i];
            if index[i] < dims[i] {
                break;
            }
            at -= steps[i] * dims[i];
            index[i] = 0;
        }
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(dims: &[u64]) -> Tensor {
        Tensor::from_fn(Shape::f32(dims), |i| i as f32).unwrap()
    }

    #[test]
    fn transpose_of_a_matrix_and_of_three_dimensions() {
        assert_eq!(transpose(&counting(&[2, 3]), &[1, 0]).unwrap().data(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        let t = transpose(&counting(&[2, 2, 2]), &[2, 0, 1]).unwrap();
        assert_eq!(t.data(), [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0]);
        assert!(transpose(&counting(&[2, 3]), &[0, 0]).is_err());
    }

    #[test]
    fn broadcast_places_dimensions() {
        let rows = broadcast_in_dim(&counting(&[2]), &Shape::f32([2, 3]), &[0]).unwrap();
        assert_eq!(rows.data(), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        let columns = broadcast_in_dim(&counting(&[3]), &Shape::f32([2, 3]), &[1]).unwrap();
        assert_eq!(columns.data(), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
        let scalar = broadcast_in_dim(&counting(&[]), &Shape::f32([2]), &[]).unwrap();
        assert_eq!(scalar.data(), [0.0, 0.0]);
        assert!(broadcast_in_dim(&counting(&[2]), &Shape::f32([2, 3]), &[1]).is_err());
    }
}
