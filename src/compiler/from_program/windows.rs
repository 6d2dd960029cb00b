//! Pooling in the arrangement that the compiler takes.

use super::emit::Emit;
use super::flatten::Combine;
use super::ops::worked;
use super::permutation::inverse;
use crate::hlo::{InstrId, Opcode, ReduceKind, WorkKind};
use ns_base::Order;
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;
use ns_program::WindowDim;
use ns_tensor::{Shape, kernels};

type Result<T> = std::result::Result<T, Refusal>;

/// A window as kernels have it; `None` when elements are cut off.
pub(super) fn window_of(w: &WindowDim) -> Option<kernels::WindowDim> {
    Some(kernels::WindowDim {
        size: w.size,
        stride: w.stride,
        pad_low: u64::try_from(w.pad_low).ok()?,
        pad_high: u64::try_from(w.pad_high).ok()?,
        base_dilation: w.base_dilation,
        window_dilation: w.window_dilation,
        reversed: w.is_reversed,
    })
}

/// Pools over the two dimensions along which the window moves; other windows (sums up to each element) are passes of the vector
/// engine.
pub(super) fn reduce_window(
    e: &mut Emit<'_>,
    window: &[WindowDim],
    combine: Option<Combine>,
    shape: Shape,
) -> Result<InstrId> {
    let kind = match combine {
        Some(Combine::Sum) => Some(ReduceKind::Sum),
        Some(Combine::Max) => Some(ReduceKind::Max),
        Some(Combine::Min) => Some(ReduceKind::Min),
        _ => None,
    };
    let moving: Vec<u32> = (0u32..).zip(window).filter(|(_, w)| **w != WindowDim::ONE).map(|(d, _)| d).collect();
    let plain: Option<Vec<_>> = moving.iter().map(|&d| window_of(&window[d as usize])).collect();
    let rank = usize_to_u32(window.len());
    let (Some(kind), Some(plain), true) = (kind, plain, moving.len() <= 2 && (3..=4).contains(&rank)) else {
        return in_passes(e, window, shape);
    };
    // Sums up to each element: a window as long as the dimension is a scan, not a pool.
    if plain.iter().any(|w| w.pad_low + w.pad_high >= w.size && w.size > 8) {
        return in_passes(e, window, shape);
    }
    let mut spatial = moving.clone();
    // An image has two sides; a row [n, c, w] or [n, w, c] has one, and the other dimension is its channels.
    for d in (2..rank).rev().filter(|_| rank == 4) {
        if spatial.len() < 2 && !spatial.contains(&d) {
            spatial.push(d);
        }
    }
    spatial.order();
    let others: Vec<u32> = (0..rank).filter(|d| !spatial.contains(d)).collect();
    let order: Vec<u32> = others.iter().chain(&spatial).copied().collect();
    let x = e.operand(0)?;
    let x = e.transposed(x, order.clone());
    let turned: Vec<u64> = order.iter().filter_map(|&d| shape.dims.get(d as usize).copied()).collect();
    let one = kernels::WindowDim::new(1, 1, 0);
    let find = |d: u32| moving.iter().position(|&m| m == d).map_or(one, |i| plain[i]);
    let both = match spatial.as_slice() {
        [width] => [one, find(*width)],
        [height, width] => [find(*height), find(*width)],
        _ => return in_passes(e, window, shape),
    };
    // [n, c, w] is [n, c, 1, w].
    let as_image = |dims: &[u64]| -> Vec<u64> {
        let mut dims = dims.to_vec();
        let missing = 4 - dims.len().min(4);
        let at = dims.len() - spatial.len();
        if spatial.len() == 1 && missing > 0 {
            dims.insert(at, 1);
        }
        while dims.len() < 4 {
            dims.insert(0, 1);
        }
        dims
    };
    let dims = e.shape(x).dims;
    let x = e.reshaped(x, as_image(&dims));
    let pooled =
        e.push(Opcode::ReduceWindow { kind, window: both }, vec![x], Shape::new(shape.dtype, as_image(&turned)));
    let pooled = e.reshaped(pooled, turned);
    Ok(e.transposed(pooled, inverse(&order)))
}

/// The number of passes that a sum by doubling takes.
fn in_passes(e: &mut Emit<'_>, window: &[WindowDim], shape: Shape) -> Result<InstrId> {
    let under: u64 = window.iter().map(|w| w.size.max(1)).product();
    let passes = under.next_power_of_two().ilog2().max(1);
    worked(e, "reduce-window", WorkKind::Vector, passes, shape)
}
