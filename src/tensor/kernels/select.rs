//! Kernels that select, join and replace elements.

use crate::{Shape, Tensor, TensorError};
use ns_base::convert::{f64_to_u64, f64_to_usize, u64_to_usize};

use super::layout::strides;

/// The shape of [`gather_rows`]: the indices' dimensions, then the table's dimensions without the first.
///
/// # Errors
/// When the table has no rows.
pub fn gather_rows_shape(table: &Shape, indices: &Shape) -> Result<Shape, TensorError> {
    match table.dims.split_first() {
        Some((&rows, rest)) if rows > 0 => {
            Ok(Shape::new(table.dtype, indices.dims.iter().chain(rest).copied().collect::<Vec<_>>()))
        }
        _ => Err(TensorError::Dimensions {
            op: "gather",
            dimensions: indices.dims.clone(),
            shape: table.clone(),
            expected: "expected a table with rows",
        }),
    }
}

/// Looks rows up in a table. An index below zero or beyond the last row is clamped, as HLO does.
///
/// # Errors
/// When the table has no rows or memory runs out.
pub fn gather_rows(table: &Tensor, indices: &Tensor) -> Result<Tensor, TensorError> {
    let shape = gather_rows_shape(table.shape(), indices.shape())?;
    let rows = u64_to_usize(table.dims()[0]);
    let width = table.data().len() / rows;
    Tensor::from_fn(shape, |i| {
        // A float converted to an unsigned index saturates at zero.
        let row = f64_to_usize(f64::from(indices.data()[i / width])).min(rows - 1);
        table.data()[row * width + i % width]
    })
}

/// Adds rows to the rows of `table` that `indices` name, in their order; the reverse of [`gather_rows`].
///
/// # Errors
/// When the rows do not fit the table and the indices.
pub fn scatter_add_rows(table: &Tensor, indices: &Tensor, rows: &Tensor) -> Result<Tensor, TensorError> {
    let expected = gather_rows_shape(table.shape(), indices.shape())?;
    if rows.shape() != &expected {
        return Err(TensorError::Mismatch {
            op: "scatter",
            left: table.shape().clone(),
            right: rows.shape().clone(),
            expected: format!("expected {expected}"),
        });
    }
    let count = u64_to_usize(table.dims()[0]);
    let width = (table.data().len() / count).max(1);
    let mut sums = table.data().to_vec();
    for (index, row) in indices.data().iter().zip(rows.data().chunks(width)) {
        let start = f64_to_usize(f64::from(*index)).min(count - 1) * width;
        for (sum, part) in sums[start..].iter_mut().zip(row) {
            *sum += part;
        }
    }
    Tensor::new(table.shape().clone(), sums)
}

/// The shape of operands joined along a dimension.
///
/// # Errors
/// When there are no operands, or their other dimensions differ.
pub fn concatenate_shape(shapes: &[&Shape], dimension: u32) -> Result<Shape, TensorError> {
    let at = dimension as usize;
    let Some((first, rest)) = shapes.split_first() else {
        return Err(TensorError::DataLength { shape: Shape::f32([]), needed: 1, found: 0 });
    };
    if at >= first.rank() {
        return Err(TensorError::Dimensions {
            op: "concatenate",
            dimensions: vec![u64::from(dimension)],
            shape: (*first).clone(),
            expected: "expected a dimension of the operands",
        });
    }
    let mut joined = (*first).clone();
    for other in rest {
        let mut same = (*other).clone();
        if same.rank() == first.rank() {
            same.dims[at] = first.dims[at];
        }
        if same != **first {
            return Err(TensorError::Mismatch {
                op: "concatenate",
                left: (*first).clone(),
                right: (*other).clone(),
                expected: format!("expected equal dimensions but for dimension {dimension}"),
            });
        }
        joined.dims[at] = joined.dims[at].saturating_add(other.dims[at]);
    }
    Ok(joined)
}

/// Joins tensors along a dimension.
///
/// # Errors
/// When there are no operands, their other dimensions differ, or memory runs out.
pub fn concatenate(operands: &[&Tensor], dimension: u32) -> Result<Tensor, TensorError> {
    let shapes: Vec<&Shape> = operands.iter().map(|t| t.shape()).collect();
    let shape = concatenate_shape(&shapes, dimension)?;
    let at = dimension as usize;
    let outer: u64 = shape.dims[..at].iter().product();
    let mut data = Vec::with_capacity(u64_to_usize(shape.elements()));
    for i in 0..u64_to_usize(outer) {
        for t in operands {
            let run = u64_to_usize(t.dims()[at..].iter().product::<u64>());
            data.extend_from_slice(&t.data()[i * run..(i + 1) * run]);
        }
    }
    Tensor::new(shape, data)
}

/// A range of one dimension: elements `start`, `start + stride`, ... below `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SliceDim {
    /// First element.
    pub start: u64,
    /// One beyond the last.
    pub limit: u64,
    /// Distance between two elements.
    pub stride: u64,
}

/// The shape of a slice.
///
/// # Errors
/// When there is not one valid range for each dimension.
pub fn slice_shape(x: &Shape, ranges: &[SliceDim]) -> Result<Shape, TensorError> {
    let inside = |(r, &size): (&SliceDim, &u64)| r.start <= r.limit && r.limit <= size && r.stride > 0;
    if ranges.len() != x.rank() || !ranges.iter().zip(&x.dims).all(inside) {
        return Err(TensorError::Dimensions {
            op: "slice",
            dimensions: ranges.iter().map(|r| r.limit).collect(),
            shape: x.clone(),
            expected: "expected a range within each dimension",
        });
    }
    let dims: Vec<u64> = ranges.iter().map(|r| (r.limit - r.start).div_ceil(r.stride)).collect();
    Ok(Shape::new(x.dtype, dims))
}

/// The elements in a range of each dimension.
///
/// # Errors
/// When there is not one valid range for each dimension.
pub fn slice(x: &Tensor, ranges: &[SliceDim]) -> Result<Tensor, TensorError> {
    let shape = slice_shape(x.shape(), ranges)?;
    let (from, to) = (strides(x.dims()), strides(&shape.dims));
    Tensor::from_fn(shape.clone(), |i| {
        let mut at = 0;
        for (d, r) in ranges.iter().enumerate() {
            let index = i as u64 / to[d] % shape.dims[d];
            at += (r.start + index * r.stride) * from[d];
        }
        x.data()[u64_to_usize(at)]
    })
}

/// A tensor with a part replaced by `update`; the first element of the update goes to `starts`. Starts are clamped so
/// that the update fits, as HLO does.
///
/// # Errors
/// When the update does not fit the tensor.
pub fn dynamic_update_slice(x: &Tensor, update: &Tensor, starts: &[f32]) -> Result<Tensor, TensorError> {
    update_fits(x.shape(), update.shape(), starts.len())?;
    let places = x.dims().iter().zip(update.dims());
    // A float converted to an unsigned number saturates at zero.
    let starts: Vec<u64> =
        starts.iter().zip(places).map(|(&s, (&size, &part))| f64_to_u64(f64::from(s)).min(size - part)).collect();
    let (from, to) = (strides(update.dims()), strides(x.dims()));
    let mut data = x.data().to_vec();
    for (i, value) in update.data().iter().enumerate() {
        let mut at = 0;
        for (d, start) in starts.iter().enumerate() {
            at += (start + i as u64 / from[d] % update.dims()[d]) * to[d];
        }
        data[u64_to_usize(at)] = *value;
    }
    Tensor::new(x.shape().clone(), data)
}

/// Checks that an update has the tensor's type, dimensions that are not larger, and one start per dimension.
///
/// # Errors
/// When it does not fit.
pub fn update_fits(x: &Shape, update: &Shape, starts: usize) -> Result<(), TensorError> {
    let inside = update.rank() == x.rank() && update.dims.iter().zip(&x.dims).all(|(u, d)| u <= d);
    if !inside || update.dtype != x.dtype || starts != x.rank() {
        return Err(TensorError::Mismatch {
            op: "dynamic-update-slice",
            left: x.clone(),
            right: update.clone(),
            expected: format!("expected an update within it and a start for each dimension, there are {starts} starts"),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn counting(dims: &[u64]) -> Tensor {
        Tensor::from_fn(Shape::f32(dims), |i| i as f32).unwrap()
    }

    #[test]
    fn rows_are_looked_up_and_indices_clamped() {
        let ids = Tensor::new(Shape::new(DType::S32, [2, 2]), vec![2.0, 0.0, -1.0, 9.0]).unwrap();
        let rows = gather_rows(&counting(&[3, 2]), &ids).unwrap();
        assert_eq!((rows.dims(), rows.data()), (&[2, 2, 2][..], &[4.0, 5.0, 0.0, 1.0, 0.0, 1.0, 4.0, 5.0][..]));
        assert!(gather_rows(&counting(&[0, 2]), &ids).is_err());
    }

    #[test]
    fn joining_and_slicing_undo_each_other() {
        let (a, b) = (counting(&[2, 1, 2]), counting(&[2, 3, 2]));
        let joined = concatenate(&[&a, &b], 1).unwrap();
        assert_eq!(joined.dims(), [2, 4, 2]);
        let all = SliceDim { start: 0, limit: 2, stride: 1 };
        let part = |start, limit| slice(&joined, &[all, SliceDim { start, limit, stride: 1 }, all]).unwrap();
        assert!(part(0, 1).same_bits(&a) && part(1, 4).same_bits(&b));
        assert!(concatenate(&[&a, &b], 0).is_err() && concatenate(&[&a], 3).is_err() && concatenate(&[], 0).is_err());
    }

    #[test]
    fn a_stride_skips_and_a_range_outside_is_refused() {
        let x = counting(&[7]);
        let range = |start, limit, stride| slice(&x, &[SliceDim { start, limit, stride }]);
        assert_eq!(range(1, 7, 3).unwrap().data(), [1.0, 4.0]);
        assert!(range(0, 8, 1).is_err() && range(3, 2, 1).is_err() && range(0, 7, 0).is_err());
    }

    #[test]
    fn an_update_is_placed_and_clamped() {
        let x = Tensor::splat(Shape::f32([2, 3]), 0.0).unwrap();
        let update = Tensor::new(Shape::f32([1, 2]), vec![1.0, 2.0]).unwrap();
        assert_eq!(dynamic_update_slice(&x, &update, &[1.0, 1.0]).unwrap().data(), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(dynamic_update_slice(&x, &update, &[-4.0, 9.0]).unwrap().data(), [0.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
        assert!(dynamic_update_slice(&update, &x, &[0.0, 0.0]).is_err());
        assert!(dynamic_update_slice(&x, &update, &[0.0]).is_err());
    }
}
