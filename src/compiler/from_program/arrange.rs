//! Transposes, reshapes, broadcasts, reductions, slices and elementwise operations.

use super::emit::Emit;
use crate::hlo::{InstrId, Opcode, ReduceKind};
use ns_base::Order;
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_tensor::kernels::SliceDim;
use ns_tensor::{DType, Shape};

impl Emit<'_> {
    /// Result dimension `i` is dimension `permutation[i]` of `x`; `x` itself for the identity.
    pub fn transposed(&mut self, x: InstrId, permutation: Vec<u32>) -> InstrId {
        if permutation.iter().enumerate().all(|(i, &p)| i == p as usize) {
            return x;
        }
        let shape = self.shape(x);
        let dims: Vec<u64> = permutation.iter().filter_map(|&p| shape.dims.get(p as usize).copied()).collect();
        self.push(Opcode::Transpose { permutation }, vec![x], Shape::new(shape.dtype, dims))
    }

    /// The same elements with other dimensions. Returns `x` itself when the dimensions do not change, and the value that `x`
    /// views when that one has them.
    pub fn reshaped(&mut self, x: InstrId, dims: Vec<u64>) -> InstrId {
        let shape = self.shape(x);
        if shape.dims == dims {
            return x;
        }
        match self.viewed(x) {
            Some(of) if self.instructions[of].shape.dims == dims => of,
            _ => self.push(Opcode::Reshape, vec![x], Shape::new(shape.dtype, dims)),
        }
    }

    /// The operand of a reshape.
    pub fn viewed(&self, x: InstrId) -> Option<InstrId> {
        let instruction = &self.instructions[x];
        instruction.operands.first().copied().filter(|_| matches!(instruction.opcode, Opcode::Reshape))
    }

    /// The same numbers as another element type.
    pub fn converted(&mut self, x: InstrId, dtype: DType) -> InstrId {
        let shape = self.shape(x);
        if shape.dtype == dtype { x } else { self.push(Opcode::Convert, vec![x], Shape::new(dtype, shape.dims)) }
    }

    /// `x` repeated: its dimension `i` becomes dimension `dimensions[i]` of the result. Dimensions of size one repeat too.
    pub fn repeated(&mut self, x: InstrId, dimensions: &[u32], dims: &[u64]) -> InstrId {
        let shape = self.shape(x);
        if shape.dims == dims && dimensions.iter().enumerate().all(|(i, &d)| i == d as usize) {
            return x;
        }
        // HLO's broadcast here neither permutes dimensions nor stretches dimensions of size one.
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        order.order_by_key(|&i| dimensions[i]);
        let x = self.transposed(x, order.iter().map(|&i| usize_to_u32(i)).collect());
        let kept: Vec<usize> =
            order.into_iter().filter(|&i| dims.get(dimensions[i] as usize) == shape.dims.get(i)).collect();
        let kept_dims: Vec<u64> = kept.iter().map(|&i| shape.dims[i]).collect();
        let x = self.reshaped(x, kept_dims.clone());
        if kept_dims == dims {
            return x;
        }
        let dimensions = kept.iter().map(|&i| dimensions[i]).collect();
        self.push(Opcode::Broadcast { dimensions }, vec![x], Shape::new(shape.dtype, dims.to_vec()))
    }

    /// A value with the dimensions left by a reduction of `lost`, repeated along the lost dimensions.
    pub fn along(&mut self, x: InstrId, lost: &[u32], dims: &[u64]) -> InstrId {
        let kept: Vec<u32> = (0..usize_to_u32(dims.len())).filter(|d| !lost.contains(d)).collect();
        self.repeated(x, &kept, dims)
    }

    /// A reduction along dimensions.
    pub fn reduced(&mut self, kind: ReduceKind, x: InstrId, dimensions: &[u32]) -> InstrId {
        let mut dimensions = dimensions.to_vec();
        dimensions.order();
        dimensions.dedup();
        let shape = self.shape(x);
        let dims: Vec<u64> =
            (0..shape.rank()).filter(|i| !dimensions.contains(&usize_to_u32(*i))).map(|i| shape.dims[i]).collect();
        self.push(Opcode::Reduce { kind, dimensions }, vec![x], Shape::new(shape.dtype, dims))
    }

    /// The mean along dimensions.
    pub fn mean(&mut self, x: InstrId, dimensions: &[u32]) -> InstrId {
        let shape = self.shape(x);
        let count: u64 = dimensions.iter().filter_map(|&d| shape.dims.get(d as usize)).product();
        let sum = self.reduced(ReduceKind::Sum, x, dimensions);
        let shape = self.shape(sum);
        let factor = self.splat(1.0 / u64_to_f64(count.max(1)), shape.clone());
        self.push(Opcode::Multiply, vec![sum, factor], shape)
    }

    /// A range of each dimension; `x` itself when the ranges cover all of it.
    pub fn sliced(&mut self, x: InstrId, ranges: Vec<SliceDim>) -> InstrId {
        let shape = self.shape(x);
        if ranges.iter().zip(&shape.dims).all(|(r, &d)| r.start == 0 && r.limit == d && r.stride == 1) {
            return x;
        }
        let size = |r: &SliceDim| r.limit.saturating_sub(r.start).div_ceil(r.stride.max(1));
        let dims: Vec<u64> = ranges.iter().map(size).collect();
        self.push(Opcode::Slice { ranges }, vec![x], Shape::new(shape.dtype, dims))
    }

    /// An elementwise operation of two values.
    pub fn of_two(&mut self, opcode: Opcode, a: InstrId, b: InstrId) -> InstrId {
        let shape = self.shape(a);
        self.push(opcode, vec![a, b], shape)
    }

    /// An elementwise operation of one value.
    pub fn of_one(&mut self, opcode: Opcode, x: InstrId) -> InstrId {
        let shape = self.shape(x);
        self.push(opcode, vec![x], shape)
    }
}
