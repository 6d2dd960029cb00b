//! Inverses of windows: patches added up to an image, largest elements put back at their positions, sampling positions of a transformed image.

use super::super::{ArrayType, Builder, Built, InstructionId, Numbers, Value};
use super::{IndexPut, Windows, scatter_along};
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// Most elements of a kernel that is unrolled.
const MOST_PATCH: u64 = 4096;

/// Most positions along a dimension of a grid that is unrolled.
const MOST_ROW: u64 = 1 << 16;

/// How patches lie in an image, one number for each spatial dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Sizes of the image.
    pub sizes: Vec<u64>,
    /// Sizes of a patch.
    pub kernel: Vec<u64>,
    /// Distances between neighbouring elements of a patch.
    pub dilation: Vec<u64>,
    /// Padding in front and behind, which the image does not have.
    pub padding: Vec<(u64, u64)>,
    /// Distances between neighbouring patches.
    pub strides: Vec<u64>,
}

/// The image of patches `[n, c * kernel, patches]`, added up where they overlap (`col2im`). Fails when sizes do not fit.
pub fn fold_patches(b: &mut Builder, columns: InstructionId, how: &Fold) -> Built {
    let dims = b.dims(columns);
    let spatial = how.sizes.len();
    let lengths = [how.kernel.len(), how.dilation.len(), how.padding.len(), how.strides.len()];
    let wrong = || misfit(&dims, how);
    let in_patch = how.kernel.iter().try_fold(1u64, |all, &k| all.checked_mul(k)).filter(|&n| n > 0 && n <= MOST_PATCH);
    let (&[n, rows, all], Some(in_patch), true) = (dims.as_slice(), in_patch, lengths.iter().all(|&l| l == spatial))
    else {
        return Err(wrong());
    };
    let (mut counts, mut padded) = (Vec::new(), Vec::new());
    for d in 0..spatial {
        let size = how.sizes[d].checked_add(how.padding[d].0).and_then(|s| s.checked_add(how.padding[d].1));
        let size = size.ok_or_else(wrong)?;
        counts.push(Windows { size: how.kernel[d], step: how.strides[d], dilation: how.dilation[d] }.count(size)?);
        padded.push(size);
    }
    if rows % in_patch != 0 || counts.iter().try_fold(1u64, |all, &k| all.checked_mul(k)) != Some(all) {
        return Err(wrong());
    }
    let channels = rows / in_patch;
    let apart: Vec<u64> = [n, channels, in_patch].into_iter().chain(counts.iter().copied()).collect();
    let apart = b.reshape(columns, &apart)?;
    let mut sum: Option<InstructionId> = None;
    for number in 0..in_patch {
        let part = b.pick(apart, 2, number)?;
        let spread = spread(b, part, number, how, &padded)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, spread)?,
            None => spread,
        });
    }
    let mut image = sum.ok_or_else(wrong)?;
    for d in 0..spatial {
        let (front, size) = (how.padding[d].0, how.sizes[d]);
        image = b.slice_dim(image, 2 + d, front, front.saturating_add(size), 1)?;
    }
    Ok(image)
}

/// An error for patches that do not fit their image.
fn misfit(patches: &[u64], how: &Fold) -> Refusal {
    let (kernel, image) = (how.kernel.clone(), how.sizes.clone());
    refuse!("patches {patches:?} with a kernel of {kernel:?} do not make up an image of {image:?}")
}

/// One element of every patch at its position in the padded image, zeros elsewhere.
fn spread(b: &mut Builder, part: InstructionId, number: u64, how: &Fold, padded: &[u64]) -> Built {
    let counts = b.dims(part);
    let mut edges = vec![(0, 0, 0); 2];
    let mut places = vec![0; how.kernel.len()];
    let mut rest = number;
    for (d, &k) in how.kernel.iter().enumerate().rev() {
        places[d] = rest % k;
        rest /= k;
    }
    for (d, &place) in places.iter().enumerate() {
        let wrong = || misfit(&counts, how);
        let front = place.checked_mul(how.dilation[d]).ok_or_else(wrong)?;
        let reach = counts[2 + d].saturating_sub(1).checked_mul(how.strides[d]).ok_or_else(wrong)?;
        let behind = padded[d].checked_sub(front).and_then(|n| n.checked_sub(reach)).and_then(|n| n.checked_sub(1));
        let signed = |n: u64| i64::try_from(n).map_err(|_| wrong());
        edges.push((signed(front)?, signed(behind.ok_or_else(wrong)?)?, how.strides[d].saturating_sub(1)));
    }
    let none = b.number(b.element(part), 0.0)?;
    b.pad_with(part, none, &edges)
}

/// Elements put at row-major positions in the last dimensions, which have `sizes`; zeros elsewhere. Fails when sizes do not fit.
pub fn unpool(b: &mut Builder, x: InstructionId, places: InstructionId, sizes: &[u64]) -> Built {
    let dims = b.dims(x);
    let product = |all: &[u64]| all.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
    let front = dims.len().checked_sub(sizes.len());
    let ty = b.type_of(x).clone();
    let wrong = || refuse!("{ty} cannot be put back into sizes {sizes:?}");
    let front = front.filter(|_| b.dims(places) == dims).ok_or_else(wrong)?;
    let (rows, own, all) = (product(&dims[..front]), product(&dims[front..]), product(sizes));
    let (Some(rows), Some(own), Some(all)) = (rows, own, all) else { return Err(wrong()) };
    let zeros = b.full(b.element(x), &[rows, all], 0.0)?;
    let (values, places) = (b.reshape(x, &[rows, own])?, b.reshape(places, &[rows, own])?);
    let put = scatter_along(b, zeros, 1, places, values, IndexPut { combine: None })?;
    let result: Vec<u64> = dims[..front].iter().chain(sizes).copied().collect();
    b.reshape(put, &result)
}

/// Positions of the elements of images `[n, c, spatial ..]`, from -1 to 1 and last dimension first, transformed by a matrix for each image
/// `[n, spatial, spatial + 1]`: `[n, spatial .., spatial]`. Fails when sizes do not fit.
pub fn affine_grid(b: &mut Builder, theta: InstructionId, sizes: &[u64], aligns_corners: bool) -> Built {
    let (n, spatial) = match sizes {
        &[n, _, ref spatial @ ..] if matches!(spatial.len(), 2 | 3) => (n, spatial.to_vec()),
        _ => return Err(refuse!("a grid of sizes {sizes:?} is empty, too large, or not of 2 or 3 spatial dimensions")),
    };
    let is_small = spatial.iter().all(|&n| n <= MOST_ROW);
    let all = spatial.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n > 0 && is_small);
    let all = all
        .ok_or_else(|| refuse!("a grid of sizes {sizes:?} is empty, too large, or not of 2 or 3 spatial dimensions"))?;
    let mut columns = Vec::new();
    for (d, &size) in spatial.iter().enumerate().rev() {
        let place = |i: u64| match (aligns_corners, size) {
            (true, 1) => 0.0,
            (true, _) => 2.0 * u64_to_f64(i) / u64_to_f64(size - 1) - 1.0,
            (false, _) => (2.0 * u64_to_f64(i) + 1.0) / u64_to_f64(size) - 1.0,
        };
        let ty = ArrayType::new(b.element(theta), [size]);
        let row = b.constant(Value { ty, numbers: Numbers::Real((0..size).map(place).collect()) })?;
        columns.push(b.broadcast_in(row, &spatial, vec![usize_to_u32(d)])?);
    }
    columns.push(b.full(b.element(theta), &spatial, 1.0)?);
    let base = b.stack(&columns, spatial.len())?;
    let base = b.reshape(base, &[all, columns.len() as u64])?;
    let turned = b.swap_dims(theta, 1, 2)?;
    let base = b.broadcast_to(base, &[n, all, columns.len() as u64])?;
    let moved = b.matmul(base, turned)?;
    let result: Vec<u64> = std::iter::once(n).chain(spatial.iter().copied()).chain([spatial.len() as u64]).collect();
    b.reshape(moved, &result)
}
