//! Splits windows of an array into new dimensions.

use super::super::builder::RowGather;
use super::super::builder::no_window;
use super::super::{Builder, Built, ElementType, InstructionId, WindowDim};
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};

/// How windows lie along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Elements of a window.
    pub size: u64,
    /// Distance between the first elements of neighbouring windows.
    pub step: u64,
    /// Distance between neighbouring elements of a window.
    pub dilation: u64,
}

impl Windows {
    /// Number of windows that fit into a number of elements. Fails when no window fits, or a distance is zero.
    pub fn count(self, elements: u64) -> Result<u64, Refusal> {
        let wrong = || {
            let (size, stride) = (self.size, self.step);
            no_window(&WindowDim { size, stride, window_dilation: self.dilation, ..WindowDim::ONE }, elements)
        };
        let reach = self.size.checked_sub(1).and_then(|n| n.checked_mul(self.dilation)).ok_or_else(wrong)?;
        let room = elements.checked_sub(1).and_then(|n| n.checked_sub(reach)).ok_or_else(wrong)?;
        Ok(room.checked_div(self.step).ok_or_else(wrong)? + 1)
    }
}

/// Splits a dimension into its windows. Two dimensions replace it: the element within the window and the window (`element_first`), or the
/// reverse. Fails when no window fits in the dimension.
pub fn windows(b: &mut Builder, x: InstructionId, dimension: usize, how: Windows, element_first: bool) -> Built {
    let count = how.count(b.size(x, dimension)?)?;
    let dims = if element_first { [how.size, count] } else { [count, how.size] };
    let scaled = |b: &mut Builder, at: usize, by: u64| {
        let places = b.iota(ElementType::S32, &dims, at)?;
        b.with_number(super::super::Binary::Mul, places, u64_to_f64(by))
    };
    let (element, window) = if element_first { (0, 1) } else { (1, 0) };
    let inside = scaled(b, element, how.dilation)?;
    let start = scaled(b, window, how.step)?;
    let places = b.add(start, inside)?;
    b.take(x, places, RowGather { dimension, wraps: false })
}

/// The patches of an image `[n, c, h, w]` under a kernel, as columns `[n, c * kernel, patches]` (PyTorch's `im2col`), padded with
/// zeros. Fails when the image does not have four dimensions, or no patch fits in it.
pub fn patches(b: &mut Builder, image: InstructionId, how: [Windows; 2], padding: [i64; 2]) -> Built {
    let found = b.rank(image);
    if found != 4 {
        return Err(refuse!("patches of images needs an operand of rank 4, not {found}"));
    }
    let edges = [(0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])];
    let padded = b.pad(image, 0.0, &edges)?;
    let rows = windows(b, padded, 2, how[0], true)?;
    // [n, c, kernel rows, patch rows, kernel columns, patch columns]
    let both = windows(b, rows, 4, how[1], true)?;
    let turned = b.transpose(both, &[0, 1, 2, 4, 3, 5])?;
    let dims = b.dims(turned);
    let columns = [dims[0], dims[1..4].iter().product(), dims[4..].iter().product()];
    b.reshape(turned, &columns)
}
