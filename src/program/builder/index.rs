//! Operations with indices.

use super::super::{ArrayType, Binary, Comparison, ElementType, GatherDims, InstructionId, Op, ScatterDims, Type};
use super::core::{Builder, Built};
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// A gather along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowGather {
    pub dimension: usize,
    /// Whether negative indices count from the end.
    pub wraps: bool,
}

impl Builder {
    /// 0, 1, 2 .. along a dimension. Fails when the sizes do not include the dimension.
    pub fn iota(&mut self, element: ElementType, dims: &[u64], dimension: usize) -> Built {
        if dimension >= dims.len() {
            return Err(refuse!("{} has no dimension {dimension}", ArrayType::new(element, dims)));
        }
        self.push_array(Op::Iota { dimension: usize_to_u32(dimension) }, vec![], element, dims)
    }

    /// Slices of `x` at integer indices along one dimension, which is replaced by the dimensions of `indices`. An index beyond the
    /// end takes the last slice, as XLA's gather does. Fails when `indices` are not whole numbers or `x` does not have the
    /// dimension.
    pub fn take(&mut self, x: InstructionId, indices: InstructionId, how: RowGather) -> Built {
        let indices = if how.wraps { self.wrapped(indices, self.size(x, how.dimension)?)? } else { indices };
        let (ty, at) = (self.array(x)?.clone(), how.dimension);
        let index_dims = self.dims(indices);
        let size = self.size(x, at)?;
        if size == 0 {
            return Err(refuse!("{ty} has no element along dimension {at}"));
        }
        let k = index_dims.len();
        let dims: Vec<u64> = ty.dims[..at].iter().chain(&index_dims).chain(&ty.dims[at + 1..]).copied().collect();
        let mut slice_sizes = ty.dims.clone();
        slice_sizes[at] = 1;
        let gather = GatherDims {
            offset_dims: (0..at).chain(at + k..dims.len()).map(usize_to_u32).collect(),
            collapsed_slice_dims: vec![usize_to_u32(at)],
            start_index_map: vec![usize_to_u32(at)],
            index_vector_dim: usize_to_u32(k),
            slice_sizes,
            ..GatherDims::default()
        };
        self.gather(x, indices, gather, dims)
    }

    /// XLA's gather. Fails when `indices` are not whole numbers.
    pub fn gather(&mut self, x: InstructionId, indices: InstructionId, how: GatherDims, dims: Vec<u64>) -> Built {
        if !self.element(indices).is_integer() {
            let found = self.type_of(indices);
            return Err(refuse!("an index needs whole numbers, not {found}"));
        }
        let element = self.array(x)?.element;
        self.push_array(Op::Gather(how), vec![x, indices], element, dims)
    }

    /// For each element of `indices`: the element of `x` at that index along `dimension` and at the same position in all other
    /// dimensions. Fails when the arrays have different numbers of dimensions, or `indices` is larger than `x` in another
    /// dimension.
    pub fn take_along(&mut self, x: InstructionId, indices: InstructionId, dimension: usize) -> Built {
        let (ty, wanted) = (self.array(x)?.clone(), self.dims(indices));
        let size = self.size(x, dimension)?;
        if wanted.len() != ty.dims.len() {
            return Err(refuse!("{ty} is not indexed by sizes {wanted:?}"));
        }
        let mut x = x;
        for (d, (&n, &all)) in wanted.iter().zip(&ty.dims).enumerate() {
            if d != dimension && n > all {
                return Err(refuse!("{ty} is not indexed by sizes {wanted:?}"));
            }
            x = if d == dimension { x } else { self.slice_dim(x, d, 0, n, 1)? };
        }
        let indices = self.wrapped(indices, size)?;
        let column: Vec<u64> = wanted.iter().copied().chain([1]).collect();
        let indices = self.reshape(indices, &column)?;
        let others: Vec<u32> = (0..wanted.len()).filter(|&d| d != dimension).map(usize_to_u32).collect();
        let gather = GatherDims {
            collapsed_slice_dims: vec![usize_to_u32(dimension)],
            start_index_map: vec![usize_to_u32(dimension)],
            index_vector_dim: usize_to_u32(wanted.len()),
            operand_batching_dims: others.clone(),
            start_indices_batching_dims: others,
            slice_sizes: vec![1; wanted.len()],
            ..GatherDims::default()
        };
        self.gather(x, indices, gather, wanted)
    }

    /// Indices with negative ones, which count from the end, replaced by ones that count from the front. Fails when they are not
    /// whole numbers.
    pub fn wrapped(&mut self, indices: InstructionId, size: u64) -> Built {
        if !self.element(indices).is_signed_integer() {
            return Ok(indices);
        }
        let negative = self.compare_number(Comparison::Lt, indices, 0.0)?;
        let moved = self.with_number(Binary::Add, indices, u64_to_f64(size))?;
        self.select(negative, moved, indices)
    }

    /// XLA's scatter of one array: `combine` combines the present element with the new one; `None` replaces it. Fails when element
    /// types differ or `indices` are not whole numbers.
    pub fn scatter(
        &mut self,
        x: InstructionId,
        indices: InstructionId,
        updates: InstructionId,
        how: ScatterDims,
        combine: Option<Binary>,
    ) -> Built {
        let (ty, new) = (self.array(x)?.clone(), self.array(updates)?.clone());
        if ty.element != new.element || !self.element(indices).is_integer() {
            let indices = self.type_of(indices);
            return Err(refuse!("{new} at {indices} cannot be scattered into {ty}"));
        }
        let called = match combine {
            Some(with) => self.reducer(with, ty.element)?,
            None => self.replacer(ty.element)?,
        };
        self.push(Op::Scatter(how), vec![x, indices, updates], vec![called], Type::Array(ty))
    }

    /// The computation of two numbers that returns the second.
    fn replacer(&mut self, element: ElementType) -> Result<super::super::ComputationId, Refusal> {
        let one = Type::Array(ArrayType::new(element, []));
        self.computation("replace", &[one.clone(), one], |_, p| Ok(p[1]))
    }
}
