//! Operations that move elements.

use super::super::{InstructionId, Op};
use super::core::{Builder, Built};
use ns_base::Order;
use ns_base::convert::{usize_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};

impl Builder {
    /// The array broadcast to sizes by numpy's rules. Fails when the sizes do not fit.
    pub fn broadcast_to(&mut self, x: InstructionId, dims: &[u64]) -> Built {
        let from = self.array(x)?;
        if from.dims == dims {
            return Ok(x);
        }
        let Some(first) = dims.len().checked_sub(from.dims.len()) else {
            return Err(refuse!("{from} cannot be repeated to sizes {dims:?}"));
        };
        let places = (first..dims.len()).map(usize_to_u32).collect();
        self.broadcast_in(x, dims, places)
    }

    /// The array broadcast: its dimension `i` becomes dimension `dimensions[i]` of the result. Fails when the sizes do not fit.
    pub fn broadcast_in(&mut self, x: InstructionId, dims: &[u64], dimensions: Vec<u32>) -> Built {
        let from = self.array(x)?.clone();
        let fits = from.dims.len() == dimensions.len()
            && from
                .dims
                .iter()
                .zip(&dimensions)
                .all(|(&n, &d)| dims.get(d as usize).is_some_and(|&m| n == m || n == 1));
        if !fits {
            return Err(refuse!("{from} cannot be repeated to sizes {dims:?}"));
        }
        self.push_array(Op::Broadcast { dimensions }, vec![x], from.element, dims)
    }

    /// The same elements with other sizes. Fails when the number of elements differs.
    pub fn reshape(&mut self, x: InstructionId, dims: &[u64]) -> Built {
        let from = self.array(x)?.clone();
        if from.dims == dims {
            return Ok(x);
        }
        let wanted = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        if wanted.is_none() || wanted != from.elements() {
            return Err(refuse!("{from} does not have the elements of sizes {dims:?}"));
        }
        self.push_array(Op::Reshape, vec![x], from.element, dims)
    }

    /// The array with a new dimension of size one at `at`. Fails when the array has fewer dimensions.
    pub fn unsqueeze(&mut self, x: InstructionId, at: usize) -> Built {
        let mut dims = self.dims(x);
        if at > dims.len() {
            return Err(refuse!("an array of rank {} has no dimension {}", dims.len(), usize_to_i64(at)));
        }
        dims.insert(at, 1);
        self.reshape(x, &dims)
    }

    /// The array without a dimension of size one. Fails when the array does not have the dimension or it has another size.
    pub fn squeeze(&mut self, x: InstructionId, at: usize) -> Built {
        let mut dims = self.dims(x);
        self.size(x, at)?;
        dims.remove(at);
        self.reshape(x, &dims)
    }

    /// Size of a dimension. Fails when the array has fewer dimensions.
    pub fn size(&self, x: InstructionId, dimension: usize) -> Result<u64, Refusal> {
        let ty = self.array(x)?;
        ty.dims.get(dimension).copied().ok_or_else(|| refuse!("{ty} has no dimension {dimension}"))
    }

    /// Dimension `i` of the result is dimension `permutation[i]`. Fails when it is not a permutation of the array's dimensions.
    pub fn transpose(&mut self, x: InstructionId, permutation: &[usize]) -> Built {
        let ty = self.array(x)?.clone();
        let mut sorted = permutation.to_vec();
        sorted.order();
        if !sorted.iter().copied().eq(0..ty.dims.len()) {
            return Err(refuse!("{permutation:?} is not an order of the dimensions of {ty}"));
        }
        if permutation.is_sorted() {
            return Ok(x);
        }
        let dims: Vec<u64> = permutation.iter().map(|&d| ty.dims[d]).collect();
        let permutation = permutation.iter().map(|&d| usize_to_u32(d)).collect();
        self.push_array(Op::Transpose { permutation }, vec![x], ty.element, dims)
    }

    /// Swaps two dimensions. Fails when the array has fewer dimensions.
    pub fn swap_dims(&mut self, x: InstructionId, a: usize, b: usize) -> Built {
        let mut order: Vec<usize> = (0..self.rank(x)).collect();
        self.size(x, a)?;
        self.size(x, b)?;
        order.swap(a, b);
        self.transpose(x, &order)
    }

    /// Reverses dimensions. Fails when the array has fewer dimensions.
    pub fn reverse(&mut self, x: InstructionId, dimensions: &[usize]) -> Built {
        let ty = self.array(x)?.clone();
        for &d in dimensions {
            self.size(x, d)?;
        }
        let dimensions = dimensions.iter().map(|&d| usize_to_u32(d)).collect();
        self.push_array(Op::Reverse { dimensions }, vec![x], ty.element, ty.dims)
    }

    /// A dimension cut, or filled up with zeros. Fails when there is no such dimension, or when there are more zeros than a signed
    /// index can count.
    pub fn resize_dim(&mut self, x: InstructionId, d: usize, size: u64) -> Built {
        let own = self.size(x, d)?;
        if own >= size {
            return self.slice_dim(x, d, 0, size, 1);
        }
        let behind = i64::try_from(size - own)
            .map_err(|_| refuse!("a dimension filled up with zeros of {size} elements is longer than 63 bits count"))?;
        let mut edges = vec![(0, 0); self.rank(x)];
        edges[d] = (0, behind);
        self.pad(x, 0.0, &edges)
    }

    /// A range of one dimension. Fails when the range is outside the array or the step is 0.
    pub fn slice_dim(&mut self, x: InstructionId, dimension: usize, start: u64, limit: u64, step: u64) -> Built {
        let ty = self.array(x)?.clone();
        let size = self.size(x, dimension)?;
        if step == 0 || start > limit || limit > size {
            return Err(refuse!("{start}..{limit} by {step} is not a range of dimension {dimension} of {ty}"));
        }
        if (start, limit, step) == (0, size, 1) {
            return Ok(x);
        }
        let mut dims = ty.dims.clone();
        dims[dimension] = (limit - start).div_ceil(step);
        let (mut starts, mut limits, mut strides) = (vec![0; dims.len()], ty.dims.clone(), vec![1; dims.len()]);
        (starts[dimension], limits[dimension], strides[dimension]) = (start, limit, step);
        self.push_array(Op::Slice { starts, limits, strides }, vec![x], ty.element, dims)
    }

    /// One element of a dimension; the dimension disappears. Fails when the array does not have the element.
    pub fn pick(&mut self, x: InstructionId, dimension: usize, at: u64) -> Built {
        let part = self.slice_dim(x, dimension, at, at.saturating_add(1), 1)?;
        self.squeeze(part, dimension)
    }

    /// Splits a dimension into parts of the given sizes. Fails when the sizes do not add up to the dimension's.
    pub fn split(&mut self, x: InstructionId, dimension: usize, sizes: &[u64]) -> Result<Vec<InstructionId>, Refusal> {
        let size = self.size(x, dimension)?;
        if sizes.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) != Some(size) {
            return Err(refuse!("parts of {sizes:?} do not make up a dimension of {size}"));
        }
        let mut start = 0;
        let mut parts = Vec::with_capacity(sizes.len());
        for &n in sizes {
            parts.push(self.slice_dim(x, dimension, start, start + n, 1)?);
            start += n;
        }
        Ok(parts)
    }

    /// Adds elements of one number in front of and behind each dimension; negative counts remove elements. Fails when there is not
    /// one pair for each dimension, or when a size would be negative.
    pub fn pad(&mut self, x: InstructionId, value: f64, edges: &[(i64, i64)]) -> Built {
        let value = self.number(self.element(x), value)?;
        let edges: Vec<(i64, i64, u64)> = edges.iter().map(|&(low, high)| (low, high, 0)).collect();
        self.pad_with(x, value, &edges)
    }

    /// Elements added in front, behind and between the elements of each dimension. Fails as [`Self::pad`].
    pub fn pad_with(&mut self, x: InstructionId, value: InstructionId, edges: &[(i64, i64, u64)]) -> Built {
        let ty = self.array(x)?.clone();
        if edges.len() != ty.dims.len() {
            return Err(refuse!("{} paddings are given for {ty}", edges.len()));
        }
        if edges.iter().all(|&e| e == (0, 0, 0)) {
            return Ok(x);
        }
        let mut dims = Vec::with_capacity(edges.len());
        for (&n, &(low, high, between)) in ty.dims.iter().zip(edges) {
            let inner = i128::from(n) + i128::from(n.saturating_sub(1)) * i128::from(between);
            let size = u64::try_from(inner + i128::from(low) + i128::from(high));
            dims.push(size.map_err(|_| refuse!("padding {edges:?} takes more than {ty} has"))?);
        }
        let low = edges.iter().map(|e| e.0).collect();
        let high = edges.iter().map(|e| e.1).collect();
        let interior = edges.iter().map(|e| e.2).collect();
        self.push_array(Op::Pad { low, high, interior }, vec![x, value], ty.element, dims)
    }

    /// Arrays joined along a dimension. Fails when the list is empty, or when element types or other sizes differ.
    pub fn concatenate(&mut self, parts: &[InstructionId], dimension: usize) -> Built {
        let Some(&first) = parts.first() else {
            return Err(refuse!("there is nothing to join"));
        };
        let ty = self.array(first)?.clone();
        self.size(first, dimension)?;
        if parts.len() == 1 {
            return Ok(first);
        }
        let mut dims = ty.dims.clone();
        dims[dimension] = 0;
        for &part in parts {
            let other = self.array(part)?;
            let mut sizes = other.dims.clone();
            let size = sizes.get_mut(dimension).map(std::mem::take);
            let (Some(size), true) = (size, other.element == ty.element) else {
                return Err(refuse!("{ty} and {other} cannot be joined"));
            };
            let total = dims[dimension].checked_add(size);
            sizes[dimension] = dims[dimension];
            if sizes != dims {
                return Err(refuse!("{ty} and {other} cannot be joined along dimension {dimension}"));
            }
            dims[dimension] = total.ok_or_else(|| refuse!("sizes add up beyond 64 bits"))?;
        }
        self.push_array(Op::Concatenate { dimension: usize_to_u32(dimension) }, parts.to_vec(), ty.element, dims)
    }

    /// Arrays of one type stacked along a new dimension. Fails as [`Self::concatenate`].
    pub fn stack(&mut self, parts: &[InstructionId], at: usize) -> Built {
        let mut raised = Vec::with_capacity(parts.len());
        for &part in parts {
            raised.push(self.unsqueeze(part, at)?);
        }
        self.concatenate(&raised, at)
    }
}
