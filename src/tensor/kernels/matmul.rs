//! Matrix products. Every element of the result is the sum over ascending `k` of `a[i,k] * b[k,j]`, starting from zero. The
//! blocked loop gives the same bits as the naive loop, because blocks split rows and columns but never `k`. A device may
//! sum tile by tile of `k` instead ([`Accumulation`]).

use crate::{Shape, Tensor, TensorError, round_slice};
use ns_base::convert::{u64_to_usize, usize_to_u32};

use super::transpose;

/// Rows of one register block.
const ROWS: usize = 4;
/// Columns of one register block: the innermost loop, vectorised by the compiler.
const COLUMNS: usize = 16;

/// The order in which the products of one element are added up, in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulation {
    /// One sum over ascending `k`.
    Sequential,
    /// One sum over ascending `k` for each tile of this many products; the tiles' sums are added in ascending order.
    /// This is a systolic array with this many rows that adds each pass to an accumulator.
    Tiled(u32),
    /// The fastest order on this machine. Its bits differ between machines: use it for measuring, not for results.
    Fastest,
}

/// The product of two matrices, `[m,k] x [k,n]`.
///
/// # Errors
/// When an operand is not a matrix or the inner dimensions differ.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor, TensorError> {
    dot(a, b, 0, 1, 0)
}

/// The shape of [`dot`]'s result: batch dimensions, then the left side's other dimensions, then the right side's.
///
/// # Errors
/// When the shapes do not fit.
pub fn dot_shape(lhs: &Shape, rhs: &Shape, batch: u32, lhs_k: u32, rhs_k: u32) -> Result<Shape, TensorError> {
    let mismatch =
        |expected: String| TensorError::Mismatch { op: "dot", left: lhs.clone(), right: rhs.clone(), expected };
    let (batch, lk, rk) = (batch as usize, lhs_k as usize, rhs_k as usize);
    if lk >= lhs.rank() || rk >= rhs.rank() || lk < batch || rk < batch {
        return Err(mismatch(format!("contracted dimensions {lk} and {rk} must exist after {batch} batch dimensions")));
    }
    if lhs.dtype != rhs.dtype {
        return Err(mismatch("expected one element type".to_owned()));
    }
    if lhs.dims[..batch] != rhs.dims[..batch] {
        return Err(mismatch(format!("expected the first {batch} dimensions to be equal")));
    }
    if lhs.dims[lk] != rhs.dims[rk] {
        return Err(mismatch(format!(
            "dimension {lk} of the first is {}, dimension {rk} of the second is {}",
            lhs.dims[lk], rhs.dims[rk]
        )));
    }
    let mut dims = lhs.dims[..batch].to_vec();
    dims.extend(others(lhs.rank(), batch, lk).map(|i| lhs.dims[i]));
    dims.extend(others(rhs.rank(), batch, rk).map(|i| rhs.dims[i]));
    Ok(Shape::new(lhs.dtype, dims))
}

/// Contracts dimension `lhs_k` of one operand with `rhs_k` of the other, for each index of the leading `batch` dimensions.
///
/// # Errors
/// When the shapes do not fit.
pub fn dot(lhs: &Tensor, rhs: &Tensor, batch: u32, lhs_k: u32, rhs_k: u32) -> Result<Tensor, TensorError> {
    dot_in(Accumulation::Sequential, lhs, rhs, batch, lhs_k, rhs_k)
}

/// [`dot`] with another order of summation.
///
/// # Errors
/// When the shapes do not fit.
pub fn dot_in(
    order: Accumulation,
    lhs: &Tensor,
    rhs: &Tensor,
    batch: u32,
    lhs_k: u32,
    rhs_k: u32,
) -> Result<Tensor, TensorError> {
    let shape = dot_shape(lhs.shape(), rhs.shape(), batch, lhs_k, rhs_k)?;
    let (batch, lk, rk) = (batch as usize, lhs_k as usize, rhs_k as usize);
    let k = u64_to_usize(lhs.dims()[lk]);
    // Bring the left side to [batch.., m.., k] and the right side to [batch.., k, n..].
    let left_order: Vec<u32> =
        (0..batch).chain(others(lhs.shape().rank(), batch, lk)).chain([lk]).map(usize_to_u32).collect();
    let right_order: Vec<u32> =
        (0..batch).chain([rk]).chain(others(rhs.shape().rank(), batch, rk)).map(usize_to_u32).collect();
    let (left, right);
    let a = if is_identity(&left_order) {
        lhs
    } else {
        left = transpose(lhs, &left_order)?;
        &left
    };
    let b = if is_identity(&right_order) {
        rhs
    } else {
        right = transpose(rhs, &right_order)?;
        &right
    };
    let batches = u64_to_usize(lhs.dims()[..batch].iter().product::<u64>());
    let m = others(lhs.shape().rank(), batch, lk).map(|i| u64_to_usize(lhs.dims()[i])).product::<usize>();
    let n = others(rhs.shape().rank(), batch, rk).map(|i| u64_to_usize(rhs.dims()[i])).product::<usize>();
    let mut out = Tensor::splat(Shape::f32(shape.dims.clone()), 0.0)?.into_data();
    for i in 0..batches {
        let (a, b) = (&a.data()[i * m * k..(i + 1) * m * k], &b.data()[i * k * n..(i + 1) * k * n]);
        accumulate(order, a, b, &mut out[i * m * n..(i + 1) * m * n], k, n);
    }
    round_slice(shape.dtype, &mut out);
    Tensor::new(shape, out)
}

fn others(rank: usize, batch: usize, contracted: usize) -> impl Iterator<Item = usize> {
    (batch..rank).filter(move |i| *i != contracted)
}

fn is_identity(order: &[u32]) -> bool {
    order.iter().enumerate().all(|(i, &p)| i == p as usize)
}

/// `out = a x b` in a given order; `out` starts at zero.
pub(super) fn accumulate(order: Accumulation, a: &[f32], b: &[f32], out: &mut [f32], k: usize, n: usize) {
    let tile = match order {
        Accumulation::Fastest => return fastest(a, b, out, k, n),
        Accumulation::Tiled(tile) if (tile as usize) < k && tile > 0 => tile as usize,
        _ => return blocked(a, b, out, k, n),
    };
    let mut partial = vec![0.0f32; out.len()];
    let mut columns = Vec::new();
    for start in (0..k).step_by(tile) {
        let end = (start + tile).min(k);
        columns.clear();
        columns.extend(a.chunks(k).flat_map(|row| &row[start..end]));
        blocked(&columns, &b[start * n..end * n], &mut partial, end - start, n);
        for (sum, tile_sum) in out.iter_mut().zip(&partial) {
            *sum += tile_sum;
        }
    }
}

/// `out = a x b` by a library's kernel for this processor; `out` starts at zero.
fn fastest(a: &[f32], b: &[f32], out: &mut [f32], k: usize, n: usize) {
    let rows = out.len().checked_div(n).unwrap_or(0);
    let left = ndarray::ArrayView2::from_shape((rows, k), a);
    let right = ndarray::ArrayView2::from_shape((k, n), b);
    if let (Ok(left), Ok(right)) = (left, right)
        && let Ok(mut result) = ndarray::ArrayViewMut2::from_shape((rows, n), &mut *out)
    {
        ndarray::linalg::general_mat_mul(1.0, &left, &right, 0.0, &mut result);
        return;
    }
    // The callers' lengths always fit; if one did not, the result would still be right.
    blocked(a, b, out, k, n);
}

/// `out = a x b` block by block; `out` starts at zero.
pub(super) fn blocked(a: &[f32], b: &[f32], out: &mut [f32], k: usize, n: usize) {
    if k == 0 || n == 0 {
        return;
    }
    for (a_rows, out_rows) in a.chunks(ROWS * k).zip(out.chunks_mut(ROWS * n)) {
        let mut j = 0;
        while j + COLUMNS <= n {
            if a_rows.len() == ROWS * k {
                full_block(a_rows, b, out_rows, (k, n, j));
            } else {
                partial_block(a_rows, b, out_rows, (k, n, j), COLUMNS);
            }
            j += COLUMNS;
        }
        if j < n {
            partial_block(a_rows, b, out_rows, (k, n, j), n - j);
        }
    }
}

/// Four rows by sixteen columns held in registers for the whole of `k`.
fn full_block(a: &[f32], b: &[f32], out: &mut [f32], (k, n, j): (usize, usize, usize)) {
    let mut sums = [[0.0f32; COLUMNS]; ROWS];
    for kk in 0..k {
        let b_row = &b[kk * n + j..kk * n + j + COLUMNS];
        for (r, row) in sums.iter_mut().enumerate() {
            let x = a[r * k + kk];
            for (s, y) in row.iter_mut().zip(b_row) {
                *s += x * *y;
            }
        }
    }
    for (r, row) in sums.iter().enumerate() {
        out[r * n + j..r * n + j + COLUMNS].copy_from_slice(row);
    }
}

/// The ragged edge: fewer rows or fewer columns, the same order.
fn partial_block(a: &[f32], b: &[f32], out: &mut [f32], (k, n, j): (usize, usize, usize), columns: usize) {
    for (a_row, out_row) in a.chunks(k).zip(out.chunks_mut(n)) {
        let mut sums = [0.0f32; COLUMNS];
        for (kk, x) in a_row.iter().enumerate() {
            let b_row = &b[kk * n + j..kk * n + j + columns];
            for (s, y) in sums.iter_mut().zip(b_row) {
                *s += x * *y;
            }
        }
        out_row[j..j + columns].copy_from_slice(&sums[..columns]);
    }
}

#[cfg(test)]
mod fastest_tests {
    use super::*;

    #[test]
    fn the_fastest_product_is_the_same_but_for_rounding() {
        let tensor = |dims: [u64; 2], seed: usize| {
            Tensor::from_fn(Shape::f32(dims), |i| ((i * 7_919 + seed) % 101) as f32 / 50.0 - 1.0).unwrap()
        };
        let (a, b) = (tensor([37, 65], 1), tensor([65, 29], 2));
        let difference = dot_in(Accumulation::Fastest, &a, &b, 0, 1, 0).unwrap();
        let difference = difference.max_abs_difference(&matmul(&a, &b).unwrap()).unwrap();
        assert!(difference < 1e-4, "{difference}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Rng;
    use proptest::prelude::*;

    fn naive(a: &Tensor, b: &Tensor) -> Vec<f32> {
        let (m, k, n) = (a.dims()[0] as usize, a.dims()[1] as usize, b.dims()[1] as usize);
        let mut out = Vec::new();
        for i in 0..m {
            for j in 0..n {
                let mut sum = 0.0f32;
                for x in 0..k {
                    sum += a.data()[i * k + x] * b.data()[x * n + j];
                }
                out.push(sum);
            }
        }
        out
    }

    fn random(dims: &[u64], seed: u64) -> Tensor {
        let mut rng = Rng::from_seed(seed);
        Tensor::from_fn(Shape::f32(dims), |_| rng.normal_f64() as f32).unwrap()
    }

    proptest! {
        #[test]
        fn blocked_has_the_bits_of_naive(m in 1u64..11, k in 1u64..40, n in 1u64..40, seed: u64) {
            let (a, b) = (random(&[m, k], seed), random(&[k, n], seed ^ 1));
            let expected = Tensor::new(Shape::f32([m, n]), naive(&a, &b)).unwrap();
            prop_assert!(matmul(&a, &b).unwrap().same_bits(&expected));
        }
    }

    #[test]
    fn tiles_are_summed_on_their_own_first() {
        // 2^24 absorbs a one added to it, but not the sum of the ones of a tile.
        let a = Tensor::from_fn(Shape::f32([1, 256]), |i| if i == 0 { 16_777_216.0 } else { 1.0 }).unwrap();
        let b = Tensor::splat(Shape::f32([256, 1]), 1.0).unwrap();
        let sum = |order| dot_in(order, &a, &b, 0, 1, 0).unwrap().data()[0];
        assert_eq!(sum(Accumulation::Sequential), 16_777_216.0);
        assert_eq!(sum(Accumulation::Tiled(128)), 16_777_216.0 + 128.0);
        assert_eq!(sum(Accumulation::Tiled(256)), 16_777_216.0);
        let (a, b) = (random(&[3, 100], 4), random(&[100, 7], 5));
        assert!(dot_in(Accumulation::Tiled(128), &a, &b, 0, 1, 0).unwrap().same_bits(&matmul(&a, &b).unwrap()));
    }

    #[test]
    fn contracting_other_dimensions_equals_transposing_first() {
        let (a, b) = (random(&[2, 5, 3], 1), random(&[2, 4, 5], 2));
        let direct = dot(&a, &b, 1, 1, 2).unwrap();
        let turned = dot(&transpose(&a, &[0, 2, 1]).unwrap(), &transpose(&b, &[0, 2, 1]).unwrap(), 1, 2, 1).unwrap();
        assert_eq!(direct.dims(), [2, 3, 4]);
        assert!(direct.same_bits(&turned));
    }

    #[test]
    fn errors_name_both_shapes() {
        let e = matmul(&random(&[4, 5], 0), &random(&[4, 4], 0)).unwrap_err();
        assert_eq!(
            e.to_string(),
            "dot: f32[4,5] does not fit f32[4,4]: dimension 1 of the first is 5, dimension 0 of the second is 4"
        );
        assert!(matmul(&random(&[4], 0), &random(&[4, 4], 0)).is_err());
    }
}
