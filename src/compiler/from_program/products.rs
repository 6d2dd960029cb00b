//! Products and convolutions in the arrangement that the array takes.

use super::constant_forms::ConstantForm;
use super::emit::Emit;
use super::permutation::inverse;
use super::windows::window_of;
use crate::hlo::{self, InstrId, Opcode, Work, WorkKind};
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;
use ns_program::{ConvolutionDims, DotDims, WindowDim};
use ns_tensor::{DType, Shape};

type Result<T> = std::result::Result<T, Refusal>;

/// One side of a product: its instruction and the roles of its dimensions.
struct Side {
    value: InstrId,
    batch: Vec<u32>,
    free: Vec<u32>,
    contracted: Vec<u32>,
}

impl Side {
    fn new(e: &Emit<'_>, value: InstrId, batch: &[u32], contracted: &[u32]) -> Self {
        let rank = usize_to_u32(e.shape(value).rank());
        let free = (0..rank).filter(|d| !batch.contains(d) && !contracted.contains(d)).collect();
        Self { value, batch: batch.to_vec(), free, contracted: contracted.to_vec() }
    }

    fn sizes(&self, e: &Emit<'_>, which: &[u32]) -> Vec<u64> {
        let dims = e.shape(self.value).dims;
        which.iter().filter_map(|&d| dims.get(d as usize).copied()).collect()
    }

    /// Batch dimensions as they are, then `first` and `second`, each merged into one dimension.
    fn arranged(&self, e: &mut Emit<'_>, first: &[u32], second: &[u32]) -> InstrId {
        let order: Vec<u32> = self.batch.iter().chain(first).chain(second).copied().collect();
        let mut dims = self.sizes(e, &self.batch);
        dims.push(self.sizes(e, first).iter().product());
        dims.push(self.sizes(e, second).iter().product());
        let turned = e.transposed(self.value, order);
        e.reshaped(turned, dims)
    }

    /// Free and contracted dimensions in the order in which they lie, and which of the last two dimensions is contracted.
    /// Without a batch the order is fixed: weights are laid out when the model is loaded.
    fn as_it_lies(&self, e: &mut Emit<'_>, contracted_last: bool) -> (InstrId, u32) {
        let rank = usize_to_u32(self.batch.len());
        let lies_last = match (self.free.first(), self.contracted.first()) {
            (Some(free), Some(contracted)) if rank > 0 => contracted > free,
            _ => contracted_last,
        };
        if lies_last {
            (self.arranged(e, &self.free, &self.contracted), rank + 1)
        } else {
            (self.arranged(e, &self.contracted, &self.free), rank)
        }
    }
}

/// `[batch.., m, k] x [batch.., k, n]`. A weight must be on the right, so a product with its weight on the left is
/// transposed.
pub(super) fn dot(e: &mut Emit<'_>, dims: &DotDims, shape: Shape) -> Result<InstrId> {
    let is_constant = |e: &Emit<'_>, n: usize| Ok::<bool, Refusal>(e.forms[e.operand_id(n)?] != ConstantForm::No);
    let (is_left_constant, is_right_constant) = (is_constant(e, 0)?, is_constant(e, 1)?);
    let turns = is_left_constant && !is_right_constant;
    let (left, right) = (e.operand(0)?, e.operand(1)?);
    let left = Side::new(e, left, &dims.lhs_batch, &dims.lhs_contracting);
    let right = Side::new(e, right, &dims.rhs_batch, &dims.rhs_contracting);
    let batch = left.sizes(e, &left.batch);
    let (m, n) = (left.sizes(e, &left.free), right.sizes(e, &right.free));
    let (a, b) = if turns { (&right, &left) } else { (&left, &right) };
    let (x, lhs_contracting) = a.as_it_lies(e, true);
    let (y, rhs_contracting) = b.as_it_lies(e, false);
    let (rows, columns): (u64, u64) = (a.sizes(e, &a.free).iter().product(), b.sizes(e, &b.free).iter().product());
    let mut product = if is_left_constant || is_right_constant {
        multiplied(e, (x, y), (lhs_contracting, rhs_contracting), shape.dtype, &batch, (rows, columns))
    } else {
        let ((x, y), heads) = by_heads(e, x, y, &batch);
        let more = usize_to_u32(heads.len() - batch.len());
        let contracting = (lhs_contracting + more, rhs_contracting + more);
        let product = multiplied(e, (x, y), contracting, shape.dtype, &heads, (rows, columns));
        e.reshaped(product, batch.iter().copied().chain([rows, columns]).collect())
    };
    if turns {
        let rank = usize_to_u32(batch.len());
        product = e.transposed(product, (0..rank).chain([rank + 1, rank]).collect());
    }
    let whole: Vec<u64> = batch.into_iter().chain(m).chain(n).collect();
    Ok(e.reshaped(product, whole))
}

fn multiplied(
    e: &mut Emit<'_>,
    (x, y): (InstrId, InstrId),
    (lhs_contracting, rhs_contracting): (u32, u32),
    dtype: DType,
    batch: &[u64],
    (rows, columns): (u64, u64),
) -> InstrId {
    let opcode = Opcode::Dot(hlo::DotDims { batch: usize_to_u32(batch.len()), lhs_contracting, rhs_contracting });
    let dims: Vec<u64> = batch.iter().copied().chain([rows, columns]).collect();
    e.push(opcode, vec![x, y], Shape::new(dtype, dims))
}

/// PyTorch's `bmm` views `[sequences, heads, m, k]` as `[sequences * heads, m, k]`. With separate heads, the matrices of a sequence lie
/// side by side, so the view is left out if one side has it.
fn by_heads(e: &mut Emit<'_>, x: InstrId, y: InstrId, batch: &[u64]) -> ((InstrId, InstrId), Vec<u64>) {
    let &[all] = batch else { return ((x, y), batch.to_vec()) };
    let heads_of = |e: &Emit<'_>, v: InstrId| -> Option<[u64; 2]> {
        let (of, own) = (e.shape(e.viewed(v)?).dims, e.shape(v).dims);
        match of.as_slice() {
            &[sequences, heads, rows, columns] if own == [all, rows, columns] && sequences * heads == all => {
                Some([sequences, heads])
            }
            _ => None,
        }
    };
    let Some(heads) = heads_of(e, x).or_else(|| heads_of(e, y)) else { return ((x, y), batch.to_vec()) };
    let mut apart = |v: InstrId| {
        let dims: Vec<u64> = heads.into_iter().chain(e.shape(v).dims.into_iter().skip(1)).collect();
        e.reshaped(v, dims)
    };
    ((apart(x), apart(y)), heads.to_vec())
}

/// `[n, c, h, w]` with weights `[o, c / groups, h, w]`; a convolution of one spatial dimension gets a second of size
/// one.
pub(super) fn convolution(
    e: &mut Emit<'_>,
    window: &[WindowDim],
    dims: &ConvolutionDims,
    (feature_groups, batch_groups): (u64, u64),
    shape: Shape,
) -> Result<InstrId> {
    let plain: Option<Vec<_>> = window.iter().map(window_of).collect();
    let is_image = matches!(window.len(), 1 | 2) && batch_groups == 1 && e.forms[e.operand_id(1)?] != ConstantForm::No;
    let Some(plain) = plain.filter(|_| is_image) else { return as_product(e, dims, shape) };
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
    let one = ns_tensor::kernels::WindowDim::new(1, 1, 0);
    let both = match plain.as_slice() {
        [width] => [one, *width],
        [height, width] => [*height, *width],
        _ => return Err(e.wrong("a convolution of other than one or two spatial dimensions")),
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

/// Other convolutions: their patches are gathered in device memory, and multiplied.
fn as_product(e: &mut Emit<'_>, dims: &ConvolutionDims, shape: Shape) -> Result<InstrId> {
    e.note("convolutions of three dimensions, of groups of a batch, or with a kernel that is computed are placed as a product of patches");
    let (x, kernel) = (e.operand(0)?, e.operand(1)?);
    let of = e.shape(kernel);
    let outputs = of.dims.get(dims.kernel.1 as usize).copied().unwrap_or(1).max(1);
    let depth = (of.elements() / outputs).max(1);
    let rows = (shape.elements() / outputs).max(1);
    let patches = Shape::new(shape.dtype, [rows, depth]);
    let work = Work { name: "patches".to_owned(), kind: WorkKind::Move, elements: patches.elements(), passes: 1 };
    let patches = e.push(Opcode::Work(work), vec![x], patches);
    let rest = (0..usize_to_u32(of.rank())).filter(|d| *d != dims.kernel.1);
    let kernel = e.transposed(kernel, rest.chain([dims.kernel.1]).collect());
    let kernel = e.reshaped(kernel, vec![depth, outputs]);
    let opcode = Opcode::Dot(hlo::DotDims { batch: 0, lhs_contracting: 1, rhs_contracting: 0 });
    let product = e.push(opcode, vec![patches, kernel], Shape::new(shape.dtype, [rows, outputs]));
    Ok(e.reshaped(product, shape.dims))
}
