//! Products and convolutions in the arrangement that the array takes.

use super::FromProgramError;
use super::emit::Emit;
use super::given::Given;
use super::windows::window_of;
use crate::compiler::hlo::{self, InstrId, Opcode, Work, WorkKind};
use crate::import::program::{ConvolutionDims, DotDims, WindowDim};
use crate::tensor::Shape;

type Result<T> = std::result::Result<T, FromProgramError>;

/// One side of a product: its instruction and which of its dimensions are what.
struct Side {
    value: InstrId,
    batch: Vec<u32>,
    free: Vec<u32>,
    contracted: Vec<u32>,
}

impl Side {
    fn new(e: &Emit<'_>, value: InstrId, batch: &[u32], contracted: &[u32]) -> Self {
        let rank = e.shape(value).rank() as u32;
        let free = (0..rank).filter(|d| !batch.contains(d) && !contracted.contains(d)).collect();
        Self { value, batch: batch.to_vec(), free, contracted: contracted.to_vec() }
    }

    fn sizes(&self, e: &Emit<'_>, which: &[u32]) -> Vec<u64> {
        let dims = e.shape(self.value).dims;
        which.iter().filter_map(|&d| dims.get(d as usize).copied()).collect()
    }

    /// Batch dimensions as they are, then `first` and `second` as one dimension each.
    fn arranged(&self, e: &mut Emit<'_>, first: &[u32], second: &[u32]) -> InstrId {
        let order: Vec<u32> = self.batch.iter().chain(first).chain(second).copied().collect();
        let mut dims = self.sizes(e, &self.batch);
        dims.push(self.sizes(e, first).iter().product());
        dims.push(self.sizes(e, second).iter().product());
        let turned = e.transposed(self.value, order);
        e.reshaped(turned, dims)
    }
}

/// `[batch.., m, k] x [batch.., k, n]`. A weight stands on the right, so a product with its weight on the left is turned.
pub(super) fn dot(e: &mut Emit<'_>, dims: &DotDims, shape: Shape) -> Result<InstrId> {
    let is_given = |e: &Emit<'_>, n: usize| Ok::<bool, FromProgramError>(e.given[e.operand_id(n)?] != Given::No);
    let turns = is_given(e, 0)? && !is_given(e, 1)?;
    let (left, right) = (e.operand(0)?, e.operand(1)?);
    let left = Side::new(e, left, &dims.lhs_batch, &dims.lhs_contracting);
    let right = Side::new(e, right, &dims.rhs_batch, &dims.rhs_contracting);
    let batch = left.sizes(e, &left.batch);
    let (m, n) = (left.sizes(e, &left.free), right.sizes(e, &right.free));
    let (a, b) = if turns { (&right, &left) } else { (&left, &right) };
    let x = a.arranged(e, &a.free, &a.contracted);
    let y = b.arranged(e, &b.contracted, &b.free);
    let rank = batch.len() as u32;
    let (rows, columns): (u64, u64) = (a.sizes(e, &a.free).iter().product(), b.sizes(e, &b.free).iter().product());
    let mut product_dims = batch.clone();
    product_dims.extend([rows, columns]);
    let opcode = Opcode::Dot(hlo::DotDims { batch: rank, lhs_contracting: rank + 1, rhs_contracting: rank });
    let mut product = e.push(opcode, vec![x, y], Shape::new(shape.dtype, product_dims));
    if turns {
        let permutation = (0..rank).chain([rank + 1, rank]).collect();
        product = e.transposed(product, permutation);
    }
    let whole: Vec<u64> = batch.into_iter().chain(m).chain(n).collect();
    Ok(e.reshaped(product, whole))
}

/// `[n, c, h, w]` with weights `[o, c / groups, h, w]`; one spatial dimension gets a second of size one.
pub(super) fn convolution(
    e: &mut Emit<'_>,
    window: &[WindowDim],
    dims: &ConvolutionDims,
    (feature_groups, batch_groups): (u64, u64),
    shape: Shape,
) -> Result<InstrId> {
    let plain: Option<Vec<_>> = window.iter().map(window_of).collect();
    let is_image = matches!(window.len(), 1 | 2) && batch_groups == 1 && e.given[e.operand_id(1)?] != Given::No;
    let Some(plain) = plain.filter(|_| is_image) else { return as_product(e, window, dims, feature_groups, shape) };
    let order = |(first, second, spatial): &(u32, u32, Vec<u32>)| -> Vec<u32> {
        [*first, *second].into_iter().chain(spatial.iter().copied()).collect()
    };
    let (x, kernel) = (e.operand(0)?, e.operand(1)?);
    let x = e.transposed(x, order(&dims.input));
    // The kernel is named input channels first.
    let kernel_order = (dims.kernel.1, dims.kernel.0, dims.kernel.2.clone());
    let kernel = e.transposed(kernel, order(&kernel_order));
    let flat = |e: &mut Emit<'_>, v: InstrId| {
        let mut dims = e.shape(v).dims;
        if dims.len() == 3 {
            dims.insert(2, 1);
        }
        e.reshaped(v, dims)
    };
    let (x, kernel) = (flat(e, x), flat(e, kernel));
    let one = crate::tensor::kernels::WindowDim::new(1, 1, 0);
    let both = match plain.as_slice() {
        [width] => [one, *width],
        [height, width] => [*height, *width],
        _ => return Err(e.wrong("a convolution without spatial dimensions")),
    };
    let turned: Vec<u64> = order(&dims.output).iter().filter_map(|&d| shape.dims.get(d as usize).copied()).collect();
    let mut image = turned.clone();
    if image.len() == 3 {
        image.insert(2, 1);
    }
    let opcode = Opcode::Convolution { window: both, feature_group_count: feature_groups };
    let result = e.push(opcode, vec![x, kernel], Shape::new(shape.dtype, image));
    let result = e.reshaped(result, turned);
    let back = inverse(&order(&dims.output));
    Ok(e.transposed(result, back))
}

/// Where each dimension of the result comes from, of a permutation that gives where it goes.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut back = vec![0; order.len()];
    for (i, &d) in order.iter().enumerate() {
        if let Some(slot) = back.get_mut(d as usize) {
            *slot = i as u32;
        }
    }
    back
}

/// Other convolutions: their patches are put together in device memory, and multiplied.
fn as_product(
    e: &mut Emit<'_>,
    window: &[WindowDim],
    dims: &ConvolutionDims,
    groups: u64,
    shape: Shape,
) -> Result<InstrId> {
    e.note("convolutions of three dimensions, of groups of a batch, or with a kernel that is computed are placed as a product of patches");
    let (x, kernel) = (e.operand(0)?, e.operand(1)?);
    let of = e.shape(kernel);
    let outputs = of.dims.get(dims.kernel.1 as usize).copied().unwrap_or(1).max(1);
    let depth = (of.elements() / outputs).max(1);
    let rows = (shape.elements() / outputs).max(1);
    debug_assert!(!window.is_empty() && groups > 0);
    let patches = Shape::new(shape.dtype, [rows, depth]);
    let work = Work { name: "patches".to_owned(), kind: WorkKind::Move, elements: patches.elements(), passes: 1 };
    let patches = e.push(Opcode::Work(work), vec![x], patches);
    let rest = (0..of.rank() as u32).filter(|d| *d != dims.kernel.1);
    let kernel = e.transposed(kernel, rest.chain([dims.kernel.1]).collect());
    let kernel = e.reshaped(kernel, vec![depth, outputs]);
    let opcode = Opcode::Dot(hlo::DotDims { batch: 0, lhs_contracting: 1, rhs_contracting: 0 });
    let product = e.push(opcode, vec![patches, kernel], Shape::new(shape.dtype, [rows, outputs]));
    Ok(e.reshaped(product, shape.dims))
}
