//! Products: matrices and convolutions.

use super::super::{ArrayType, ConvolutionDims, DotDims, InstructionId, Op, Type, WindowDim};
use super::core::{Builder, Built};
use super::elementwise::broadcast_dims;
use super::reduce::places;
use ns_base::convert::usize_to_u32;
use ns_base::refuse;

/// Settings of a convolution in frameworks' terms, channels in the second dimension; one number for each spatial dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvolutionSpec {
    pub strides: Vec<u64>,
    /// Elements added in front and behind; for a transposed convolution, elements removed from its result.
    pub padding: Vec<(i64, i64)>,
    /// Distances between elements of the kernel.
    pub dilation: Vec<u64>,
    /// Groups of channels.
    pub groups: u64,
    /// Elements added behind the result of a transposed convolution.
    pub output_padding: Vec<u64>,
    /// Whether the convolution is transposed: the kernel is then `[in, out / groups, ..]`, else `[out, in / groups, ..]`.
    pub is_transposed: bool,
}

impl Builder {
    /// A matrix product over the given dimensions. The result has the batch dimensions, the left side's other dimensions, the right
    /// side's. Fails when sizes or element types do not fit.
    pub fn dot(&mut self, a: InstructionId, b: InstructionId, dims: DotDims) -> Built {
        let (left, right) = (self.array(a)?.clone(), self.array(b)?.clone());
        let size = |ty: &ArrayType, d: u32| ty.dims.get(d as usize).copied();
        let pairs = |l: &[u32], r: &[u32]| {
            l.len() == r.len()
                && l.iter().zip(r).all(|(&i, &j)| size(&left, i).is_some() && size(&left, i) == size(&right, j))
        };
        let fits = left.element == right.element
            && pairs(&dims.lhs_contracting, &dims.rhs_contracting)
            && pairs(&dims.lhs_batch, &dims.rhs_batch);
        if !fits {
            return Err(refuse!(
                "{left} and {right} cannot be multiplied along dimensions {:?} and {:?} with batch dimensions {:?} and {:?}",
                dims.lhs_contracting,
                dims.rhs_contracting,
                dims.lhs_batch,
                dims.rhs_batch
            ));
        }
        let free = |ty: &ArrayType, contracted: &[u32], batch: &[u32]| -> Vec<u64> {
            let is_free = |d: &u32| !contracted.contains(d) && !batch.contains(d);
            (0..usize_to_u32(ty.dims.len())).filter(is_free).map(|d| ty.dims[d as usize]).collect()
        };
        let mut result: Vec<u64> = dims.lhs_batch.iter().map(|&d| left.dims[d as usize]).collect();
        result.extend(free(&left, &dims.lhs_contracting, &dims.lhs_batch));
        result.extend(free(&right, &dims.rhs_contracting, &dims.rhs_batch));
        self.push_array(Op::Dot(dims), vec![a, b], left.element, result)
    }

    /// A product of the last two dimensions by numpy's rules: batch dimensions broadcast, a vector is a row or a column. Fails when
    /// sizes or element types do not fit.
    pub fn matmul(&mut self, a: InstructionId, b: InstructionId) -> Built {
        let (left, right) = (self.dims(a), self.dims(b));
        match (left.len(), right.len()) {
            (0, _) | (_, 0) => Err(refuse!("a product of matrices needs an operand of rank 1 or more, not 0")),
            // The right side has no batch: one product of all rows.
            (m, 1 | 2) => {
                let rhs = usize_to_u32(right.len());
                let contracted = if rhs == 2 { 0 } else { rhs - 1 };
                self.dot(a, b, contracting(usize_to_u32(m) - 1, contracted))
            }
            (1, n) => {
                let row = self.unsqueeze(a, 0)?;
                let product = self.matmul(row, b)?;
                self.squeeze(product, n - 2)
            }
            (m, n) => {
                let batch = broadcast_dims(&left[..m - 2], &right[..n - 2])?;
                let a = self.with_batch(a, &batch, &left[m - 2..])?;
                let b = self.with_batch(b, &batch, &right[n - 2..])?;
                let k = usize_to_u32(batch.len());
                let mut dims = contracting(k + 1, k);
                dims.lhs_batch = (0..k).collect();
                dims.rhs_batch = (0..k).collect();
                self.dot(a, b, dims)
            }
        }
    }

    /// `x` times the transpose of the matrix `weight` of shape `[out, in]`, with or without a bias. Fails when sizes or element
    /// types do not fit.
    pub fn linear(&mut self, x: InstructionId, weight: InstructionId, bias: Option<InstructionId>) -> Built {
        let (m, n) = (self.rank(x), self.rank(weight));
        if m == 0 || n == 0 {
            return Err(refuse!("a linear layer needs an operand of rank 1 or more, not 0"));
        }
        let product = self.dot(x, weight, contracting(usize_to_u32(m) - 1, usize_to_u32(n) - 1))?;
        match bias {
            Some(bias) => self.add(product, bias),
            None => Ok(product),
        }
    }

    /// A convolution of `x` of shape `[batch, channels, spatial ..]`, with or without a bias for each output channel. Fails when
    /// sizes or element types do not fit.
    pub fn convolution(
        &mut self,
        x: InstructionId,
        kernel: InstructionId,
        bias: Option<InstructionId>,
        spec: &ConvolutionSpec,
    ) -> Built {
        let spatial = self.rank(x).checked_sub(2).filter(|&s| s + 2 == self.rank(kernel));
        let Some(spatial) = spatial else {
            let (one, other) = (self.type_of(x), self.type_of(kernel));
            return Err(refuse!("{one} cannot be convolved with a kernel of {other}"));
        };
        let lengths = [spec.strides.len(), spec.padding.len(), spec.dilation.len()];
        if lengths.iter().any(|&n| n != spatial) || spec.groups == 0 {
            let [strides, padding, dilation] = lengths;
            return Err(refuse!(
                "a convolution over {spatial} dimensions has {strides} strides, {padding} paddings, {dilation} dilations and {} groups",
                spec.groups
            ));
        }
        let kernel = if spec.is_transposed { self.swapped_kernel(kernel, spec.groups)? } else { kernel };
        let window = self.window(kernel, spec);
        let out = self.convolve(x, kernel, window, spec.groups)?;
        let Some(bias) = bias else { return Ok(out) };
        let mut dims = vec![1; spatial + 1];
        dims[0] = self.size(bias, 0)?;
        let bias = self.reshape(bias, &dims)?;
        self.add(out, bias)
    }

    /// Converts a kernel of shape `[in, out / groups, ..]` to `[out, in / groups, ..]`.
    fn swapped_kernel(&mut self, kernel: InstructionId, groups: u64) -> Built {
        let dims = self.dims(kernel);
        if groups == 1 {
            return self.swap_dims(kernel, 0, 1);
        }
        let mut split = dims.clone();
        split[0] = dims[0] / groups;
        split.insert(0, groups);
        let apart = self.reshape(kernel, &split)?;
        let swapped = self.swap_dims(apart, 1, 2)?;
        let mut joined = dims.clone();
        (joined[0], joined[1]) = (dims[1].saturating_mul(groups), dims[0] / groups);
        self.reshape(swapped, &joined)
    }

    /// How a kernel of shape `[out, in, ..]` moves.
    fn window(&self, kernel: InstructionId, spec: &ConvolutionSpec) -> Vec<WindowDim> {
        let sizes = self.dims(kernel);
        let of = |i: usize| {
            let (size, dilation, (low, high)) = (sizes[i + 2], spec.dilation[i], spec.padding[i]);
            let plain = WindowDim { size, window_dilation: dilation, ..WindowDim::ONE };
            if !spec.is_transposed {
                return WindowDim { stride: spec.strides[i], pad_low: low, pad_high: high, ..plain };
            }
            let reach = i64::try_from(dilation.saturating_mul(size.saturating_sub(1))).unwrap_or(i64::MAX);
            let more = spec.output_padding.get(i).copied().unwrap_or(0);
            WindowDim {
                pad_low: reach.saturating_sub(low),
                pad_high: reach.saturating_sub(high).saturating_add_unsigned(more),
                base_dilation: spec.strides[i],
                is_reversed: true,
                ..plain
            }
        };
        (0..sizes.len().saturating_sub(2)).map(of).collect()
    }

    /// The convolution itself, with a kernel of shape `[out, in / groups, ..]`.
    fn convolve(&mut self, x: InstructionId, kernel: InstructionId, window: Vec<WindowDim>, groups: u64) -> Built {
        let (input, weights) = (self.array(x)?.clone(), self.array(kernel)?.clone());
        let fits = input.element == weights.element
            && weights.dims[1].checked_mul(groups) == Some(input.dims[1])
            && weights.dims[0] % groups == 0;
        if !fits {
            return Err(refuse!("{input} does not have the channels of a kernel {weights} in {groups} groups"));
        }
        let mut dims = vec![input.dims[0], weights.dims[0]];
        for (&n, w) in input.dims[2..].iter().zip(&window) {
            dims.push(places(n, w)?);
        }
        let spatial: Vec<u32> = (2..usize_to_u32(dims.len())).collect();
        let plain = (0, 1, spatial.clone());
        let layout = ConvolutionDims { input: plain.clone(), kernel: (1, 0, spatial), output: plain };
        let op = Op::Convolution { window, dims: layout, feature_group_count: groups, batch_group_count: 1 };
        let result = Type::Array(ArrayType::new(input.element, dims));
        self.push(op, vec![x, kernel], vec![], result)
    }

    /// An array with the batch dimensions of a product broadcast in front of its matrix.
    fn with_batch(&mut self, x: InstructionId, batch: &[u64], matrix: &[u64]) -> Built {
        let dims: Vec<u64> = batch.iter().chain(matrix).copied().collect();
        self.broadcast_to(x, &dims)
    }
}

/// A product over one dimension of each side.
pub(super) fn contracting(lhs: u32, rhs: u32) -> DotDims {
    DotDims { lhs_contracting: vec![lhs], rhs_contracting: vec![rhs], ..DotDims::default() }
}
