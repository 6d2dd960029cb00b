//! Rules of convolution and pooling. The gradients of a convolution are convolutions: of the result's gradient, spread by the
//! stride, with the kernel read backwards; and of the image with the result's gradient as its kernel, where images and
//! channels change places.

use ns_base::{Refusal, refuse};
use ns_tensor::kernels::WindowDim;

use super::rules::{Gradients, Site, of_one};
use super::tape::Tape;
use crate::{AtenOp, NodeId};

/// Images and channels exchanged.
const SWAPPED: [u32; 4] = [1, 0, 2, 3];

pub(super) fn convolution(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let (&AtenOp::Convolution { window, groups, transposed }, &[x, weight, ..]) = (site.op, site.inputs) else {
        return Ok(Gradients::new());
    };
    if groups != 1 {
        return Err(refuse!(
            "aten::convolution in {} has {groups} groups: only convolutions of one group have a backward rule; leave --training out",
            tape.scope
        ));
    }
    let mut all = Gradients::new();
    if transposed {
        let window = forward_of(tape, window)?;
        let op = AtenOp::Convolution { window: fitting(tape, window, (g, x))?, groups, transposed: false };
        site.needed(0, || tape.op(op, &[g, weight]), &mut all)?;
        site.needed(1, || weight_gradient(tape, (g, x), weight, window), &mut all)?;
    } else {
        site.needed(0, || input_gradient(tape, g, (x, weight), window), &mut all)?;
        site.needed(1, || weight_gradient(tape, (x, g), weight, window), &mut all)?;
    }
    site.needed(2, || tape.sum(g, &[0, 2, 3], false), &mut all)?;
    Ok(all)
}

/// Height and width of an image.
fn extents(tape: &Tape, image: NodeId) -> [u64; 2] {
    match tape.dims(image) {
        [_, _, height, width] => [*height, *width],
        _ => [1, 1],
    }
}

fn per_side(tape: &Tape, side: impl Fn(usize) -> Option<WindowDim>) -> Result<[WindowDim; 2], Refusal> {
    let too_much = || {
        refuse!(
            "aten::convolution in {} is padded by more than its kernel: it has no backward rule; use a smaller padding",
            tape.scope
        )
    };
    Ok([side(0).ok_or_else(too_much)?, side(1).ok_or_else(too_much)?])
}

/// The window that spreads a gradient over the elements that it was computed from.
fn spread(window: WindowDim, extent: u64, result: u64) -> Option<WindowDim> {
    let reach = window.window_dilation * (window.size - 1);
    Some(WindowDim {
        stride: 1,
        base_dilation: window.stride,
        reversed: true,
        pad_low: reach.checked_sub(window.pad_low)?,
        pad_high: (extent + window.pad_low).checked_sub(1 + (result - 1) * window.stride)?,
        ..window
    })
}

fn input_gradient(
    tape: &mut Tape,
    g: NodeId,
    (x, weight): (NodeId, NodeId),
    window: [WindowDim; 2],
) -> Result<NodeId, Refusal> {
    let (from, to) = (extents(tape, g), extents(tape, x));
    let window = per_side(tape, |i| spread(window[i], to[i], from[i]))?;
    tape.op(AtenOp::Convolution { window, groups: 1, transposed: true }, &[g, weight])
}

/// The window of the convolution whose transpose this is.
fn forward_of(tape: &Tape, window: [WindowDim; 2]) -> Result<[WindowDim; 2], Refusal> {
    per_side(tape, |i| {
        let padding = (window[i].size - 1).checked_sub(window[i].pad_low)?;
        Some(WindowDim::new(window[i].size, window[i].base_dilation, padding))
    })
}

/// The window with the padding at the end that gives the result its size.
fn fitting(tape: &Tape, window: [WindowDim; 2], (x, y): (NodeId, NodeId)) -> Result<[WindowDim; 2], Refusal> {
    let (from, to) = (extents(tape, x), extents(tape, y));
    per_side(tape, |i| {
        let w = window[i];
        let covered = (to[i] - 1) * w.stride + w.window_dilation * (w.size - 1) + 1;
        Some(WindowDim { pad_high: covered.saturating_sub(from[i] + w.pad_low), ..w })
    })
}

/// The gradient of the kernel of a convolution from `x` to a result with the gradient `g`.
fn weight_gradient(
    tape: &mut Tape,
    (x, g): (NodeId, NodeId),
    weight: NodeId,
    window: [WindowDim; 2],
) -> Result<NodeId, Refusal> {
    let (from, result, kernel) = (extents(tape, x), extents(tape, g), extents(tape, weight));
    let mut image = tape.permute(x, &SWAPPED)?;
    let mut moved = window;
    for (i, dim) in [(0, 2), (1, 3)] {
        let w = window[i];
        let covered = w.window_dilation * (kernel[i] - 1) + (result[i] - 1) * w.stride + 1;
        let there = from[i] + w.pad_low;
        // Elements at the end that no window reached.
        if there > covered {
            image = tape.op(AtenOp::Slice { dim, start: 0, end: covered - w.pad_low }, &[image])?;
        }
        moved[i] = WindowDim {
            size: result[i],
            stride: w.window_dilation,
            window_dilation: w.stride,
            pad_high: covered.saturating_sub(there),
            ..w
        };
    }
    let g = tape.permute(g, &SWAPPED)?;
    let op = AtenOp::Convolution { window: moved, groups: 1, transposed: false };
    let gradient = tape.op(op, &[image, g])?;
    tape.permute(gradient, &SWAPPED)
}

pub(super) fn max_pool(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::MaxPool2d { window } = *site.op else { return Ok(Gradients::new()) };
    of_one(tape, site, |t| t.op(AtenOp::MaxPool2dBackward { window }, &[g, site.inputs[0]]))
}

/// Each element gets its share of the windows that cover it: a mean over the gradient, spread by the stride.
pub(super) fn avg_pool(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let AtenOp::AvgPool2d { window } = *site.op else { return Ok(Gradients::new()) };
    let (from, to) = (extents(tape, g), extents(tape, site.inputs[0]));
    let window = per_side(tape, |i| spread(window[i], to[i], from[i]))?;
    of_one(tape, site, |t| t.op(AtenOp::AvgPool2d { window }, &[g]))
}
