//! Sliding windows over the last two dimensions of `[batch, channels, height, width]`: convolution and pooling.

use serde::{Deserialize, Serialize};

use crate::{Shape, Tensor, TensorError, round_slice};
use ns_base::convert::u64_to_usize;

use super::ReduceOp;

use super::matmul::{Accumulation, accumulate};
use super::transpose;

/// How a window moves along one spatial dimension, as HLO describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowDim {
    /// Elements of the window.
    pub size: u64,
    /// Distance between two windows, in elements.
    pub stride: u64,
    /// Padding before the first element.
    pub pad_low: u64,
    /// Padding after the last element.
    pub pad_high: u64,
    /// Distance between two neighbouring operand elements; above one, zeros are inserted between them, as in a
    /// transposed convolution.
    pub base_dilation: u64,
    /// Distance between two neighbouring window elements.
    pub window_dilation: u64,
    /// Whether the window is read backwards.
    pub reversed: bool,
}

impl WindowDim {
    /// A window that moves by `stride` over an operand with the same padding on both sides.
    #[must_use]
    pub const fn new(size: u64, stride: u64, padding: u64) -> Self {
        Self {
            size,
            stride,
            pad_low: padding,
            pad_high: padding,
            base_dilation: 1,
            window_dilation: 1,
            reversed: false,
        }
    }

    /// The window of `torch.nn.ConvTranspose2d` with this kernel, stride and padding: zeros between the operand's
    /// elements, the kernel read backwards, and steps of one. `None` when the padding is not below the kernel's size.
    #[must_use]
    pub fn transposed(size: u64, stride: u64, padding: u64) -> Option<Self> {
        let pad = size.checked_sub(1)?.checked_sub(padding)?;
        let window = Self::new(size, 1, pad);
        Some(Self { base_dilation: stride, reversed: true, ..window })
    }

    /// Number of windows over an operand of `extent` elements; `None` when the window is degenerate or does not fit.
    pub fn output(&self, extent: u64) -> Option<u64> {
        if self.size == 0 || self.stride == 0 || self.base_dilation == 0 || self.window_dilation == 0 || extent == 0 {
            return None;
        }
        let dilated = (extent - 1).checked_mul(self.base_dilation)?.checked_add(1)?;
        let padded = dilated.checked_add(self.pad_low)?.checked_add(self.pad_high)?;
        let window = (self.size - 1).checked_mul(self.window_dilation)?.checked_add(1)?;
        Some(padded.checked_sub(window)? / self.stride + 1)
    }

    /// The operand element that element `k` of window `at` covers; `None` for padding or an inserted zero.
    fn covers(&self, at: u64, k: u64, extent: u64) -> Option<u64> {
        let k = if self.reversed { self.size - 1 - k } else { k };
        let position = (at * self.stride + k * self.window_dilation).checked_sub(self.pad_low)?;
        let element = position / self.base_dilation;
        (position.is_multiple_of(self.base_dilation) && element < extent).then_some(element)
    }
}

/// The shape of a convolution of `[n, ci, h, w]` with `[co, ci / groups, kh, kw]`.
///
/// # Errors
/// When the shapes do not fit the window or each other.
pub fn convolution_shape(
    x: &Shape,
    weight: &Shape,
    window: &[WindowDim; 2],
    groups: u64,
) -> Result<Shape, TensorError> {
    let wrong = |expected: String| TensorError::Mismatch {
        op: "convolution",
        left: x.clone(),
        right: weight.clone(),
        expected,
    };
    let (&[n, ci, h, w], &[co, cg, kh, kw]) = (x.dims.as_slice(), weight.dims.as_slice()) else {
        return Err(wrong(
            "expected [batch, channels, height, width] and [out, in / groups, height, width]".to_owned(),
        ));
    };
    if x.dtype != weight.dtype {
        return Err(wrong("expected one element type".to_owned()));
    }
    if groups == 0 || cg.checked_mul(groups) != Some(ci) || co % groups != 0 {
        return Err(wrong(format!("{ci} input and {co} output channels do not make {groups} groups of {cg}")));
    }
    if [kh, kw] != [window[0].size, window[1].size] {
        return Err(wrong(format!("the window is {}x{}", window[0].size, window[1].size)));
    }
    match (window[0].output(h), window[1].output(w)) {
        (Some(oh), Some(ow)) => Ok(Shape::new(x.dtype, [n, co, oh, ow])),
        _ => Err(wrong("the window does not fit the padded input".to_owned())),
    }
}

/// Convolution. Each result element is the sum over channels, window rows and window columns, ascending, with zeros where
/// the window lies outside.
///
/// # Errors
/// When the shapes do not fit or memory runs out.
pub fn convolution(x: &Tensor, weight: &Tensor, window: &[WindowDim; 2], groups: u64) -> Result<Tensor, TensorError> {
    convolution_in(Accumulation::Sequential, x, weight, window, groups)
}

/// [`convolution`] with another order of summation.
///
/// # Errors
/// When the shapes do not fit or memory runs out.
pub fn convolution_in(
    order: Accumulation,
    x: &Tensor,
    weight: &Tensor,
    window: &[WindowDim; 2],
    groups: u64,
) -> Result<Tensor, TensorError> {
    let shape = convolution_shape(x.shape(), weight.shape(), window, groups)?;
    let mut out = Tensor::splat(Shape::f32(shape.dims.clone()), 0.0)?.into_data();
    let (&[n, ci, h, w], &[_, co, oh, ow]) = (x.dims(), shape.dims.as_slice()) else {
        return Err(TensorError::DataLength { shape, needed: 4, found: x.shape().rank() as u64 });
    };
    let [kh, kw] = [window[0].size, window[1].size];
    let (in_group, out_group) = (ci / groups, u64_to_usize(co / groups));
    let depth = u64_to_usize(in_group * kh * kw);
    let width = u64_to_usize(ow);
    // One row of results at a time: the elements under its windows as a matrix [depth, width], times the weights.
    let mut patches = vec![0.0f32; depth * width];
    let mut rows = vec![0.0f32; out_group * width];
    for (image, group, y) in positions(n, groups, oh) {
        let mut slots = patches.iter_mut();
        for (channel, ky, kx) in positions(in_group, kh, kw) {
            let row = window[0].covers(y, ky, h);
            let plane = (image * ci + group * in_group + channel) * h;
            for at in 0..ow {
                let element = row.and_then(|r| Some((plane + r) * w + window[1].covers(at, kx, w)?));
                if let Some(slot) = slots.next() {
                    *slot = element.map_or(0.0, |i| x.data()[u64_to_usize(i)]);
                }
            }
        }
        let first = u64_to_usize(group) * out_group;
        let weights = &weight.data()[first * depth..(first + out_group) * depth];
        rows.fill(0.0);
        accumulate(order, weights, &patches, &mut rows, depth, width);
        for (o, row) in rows.chunks(width).enumerate() {
            let at = ((u64_to_usize(image * co) + first + o) * u64_to_usize(oh) + u64_to_usize(y)) * width;
            out[at..at + width].copy_from_slice(row);
        }
    }
    round_slice(shape.dtype, &mut out);
    Tensor::new(shape, out)
}

/// The shape of pooling `[n, c, h, w]`.
///
/// # Errors
/// When the operand does not have four dimensions or the window does not fit.
pub fn reduce_window_shape(x: &Shape, window: &[WindowDim; 2]) -> Result<Shape, TensorError> {
    let wrong = |expected| TensorError::Dimensions {
        op: "reduce-window",
        dimensions: window.iter().map(|d| d.size).collect(),
        shape: x.clone(),
        expected,
    };
    let &[n, c, h, w] = x.dims.as_slice() else { return Err(wrong("expected [batch, channels, height, width]")) };
    match (window[0].output(h), window[1].output(w)) {
        (Some(oh), Some(ow)) => Ok(Shape::new(x.dtype, [n, c, oh, ow])),
        _ => Err(wrong("the window does not fit the padded operand")),
    }
}

/// Combines the elements under each window, rows first; padding counts as the reduction's initial value.
///
/// # Errors
/// When the window does not fit or memory runs out.
pub fn reduce_window(op: ReduceOp, x: &Tensor, window: &[WindowDim; 2]) -> Result<Tensor, TensorError> {
    let shape = reduce_window_shape(x.shape(), window)?;
    let (&[n, c, h, w], &[_, _, oh, ow]) = (x.dims(), shape.dims.as_slice()) else {
        return Err(TensorError::DataLength { shape, needed: 4, found: x.shape().rank() as u64 });
    };
    let mut planes = positions(n * c, oh, ow);
    Tensor::from_fn(shape, |_| {
        let Some((plane, y, at)) = planes.next() else { return f32::NAN };
        let mut value = op.start();
        for (_, ky, kx) in positions(1, window[0].size, window[1].size) {
            let (Some(row), Some(column)) = (window[0].covers(y, ky, h), window[1].covers(at, kx, w)) else { continue };
            let element = x.data()[u64_to_usize((plane * h + row) * w + column)];
            value = op.combine(value, element);
        }
        value
    })
}

/// The gradient of a maximum over windows: each element of `gradient` is added to the element of `x` that was the largest under
/// its window, the first one of equals.
///
/// # Errors
/// When the shapes do not fit or memory runs out.
pub fn max_window_gradient(x: &Tensor, gradient: &Tensor, window: &[WindowDim; 2]) -> Result<Tensor, TensorError> {
    let shape = reduce_window_shape(x.shape(), window)?;
    let (&[n, c, h, w], &[_, _, oh, ow]) = (x.dims(), shape.dims.as_slice()) else {
        return Err(TensorError::DataLength { shape, needed: 4, found: x.shape().rank() as u64 });
    };
    if gradient.shape() != &shape {
        return Err(TensorError::Mismatch {
            op: "select-and-scatter",
            left: x.shape().clone(),
            right: gradient.shape().clone(),
            expected: format!("expected {shape}"),
        });
    }
    let mut sums = Tensor::splat(x.shape().clone(), 0.0)?.data().to_vec();
    for ((plane, y, at), part) in positions(n * c, oh, ow).zip(gradient.data()) {
        let mut largest: Option<(f32, usize)> = None;
        for (_, ky, kx) in positions(1, window[0].size, window[1].size) {
            let (Some(row), Some(column)) = (window[0].covers(y, ky, h), window[1].covers(at, kx, w)) else { continue };
            let place = u64_to_usize((plane * h + row) * w + column);
            let value = x.data()[place];
            if largest.is_none_or(|(most, _)| value > most || value.is_nan()) {
                largest = Some((value, place));
            }
        }
        if let Some((_, place)) = largest {
            sums[place] += part;
        }
    }
    Tensor::new(x.shape().clone(), sums)
}

/// Exchanges the first two dimensions: `[in, out, ..]` weights of a transposed convolution as `[out, in, ..]`.
///
/// # Errors
/// When the operand does not have four dimensions.
pub fn swap_channels(weight: &Tensor) -> Result<Tensor, TensorError> {
    transpose(weight, &[1, 0, 2, 3])
}

/// All triples below the limits, ascending, the last fastest.
fn positions(a: u64, b: u64, c: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counting(dims: &[u64]) -> Tensor {
        Tensor::from_fn(Shape::f32(dims), |i| ((i * 7) % 11) as f32 - 5.0).unwrap()
    }

    /// Convolution by its definition, in double precision.
    fn naive(x: &Tensor, w: &Tensor, stride: u64, pad: u64, groups: u64) -> Vec<f64> {
        let (&[n, ci, h, wd], &[co, cg, kh, kw]) = (x.dims(), w.dims()) else { panic!() };
        let (oh, ow) = ((h + 2 * pad - kh) / stride + 1, (wd + 2 * pad - kw) / stride + 1);
        let mut out = Vec::new();
        for (b, o, y, z) in positions(n, co, oh).flat_map(|(b, o, y)| (0..ow).map(move |z| (b, o, y, z))) {
            let mut sum = 0.0;
            for (c, i, j) in positions(cg, kh, kw) {
                let (r, s) = ((y * stride + i) as i64 - pad as i64, (z * stride + j) as i64 - pad as i64);
                if r >= 0 && s >= 0 && r < h as i64 && s < wd as i64 {
                    let channel = o / (co / groups) * cg + c;
                    let at = ((b * ci + channel) * h + r as u64) * wd + s as u64;
                    let weight = w.data()[(((o * cg + c) * kh + i) * kw + j) as usize];
                    sum += f64::from(x.data()[at as usize]) * f64::from(weight);
                }
            }
            out.push(sum);
        }
        out
    }

    proptest! {
        #[test]
        fn convolution_is_its_definition(
            n in 1u64..3, groups in 1u64..3, cg in 1u64..4, og in 1u64..4, h in 1u64..9, w in 1u64..9,
            kh in 1u64..4, kw in 1u64..4, stride in 1u64..4, pad in 0u64..3,
        ) {
            prop_assume!(h + 2 * pad >= kh && w + 2 * pad >= kw);
            let (x, k) = (counting(&[n, groups * cg, h, w]), counting(&[groups * og, cg, kh, kw]));
            let window = [WindowDim::new(kh, stride, pad), WindowDim::new(kw, stride, pad)];
            let y = convolution(&x, &k, &window, groups).unwrap();
            // Small whole numbers: every sum is exact.
            let expected: Vec<f32> = naive(&x, &k, stride, pad, groups).into_iter().map(|v| v as f32).collect();
            prop_assert_eq!(y.data(), expected.as_slice());
        }

        #[test]
        fn a_transposed_convolution_scatters(ci in 1u64..3, co in 1u64..3, h in 1u64..5, k in 1u64..4, stride in 1u64..4) {
            let (x, weight) = (counting(&[1, ci, h, h]), counting(&[ci, co, k, k]));
            let window = [WindowDim::transposed(k, stride, 0).unwrap(); 2];
            let y = convolution(&x, &swap_channels(&weight).unwrap(), &window, 1).unwrap();
            let size = (h - 1) * stride + k;
            prop_assert_eq!(y.dims(), &[1, co, size, size]);
            // Each input element adds its multiple of the kernel to the result.
            let mut expected = vec![0.0f32; (co * size * size) as usize];
            for (c, r, s) in positions(ci, h, h) {
                for (o, i, j) in positions(co, k, k) {
                    let at = (o * size + r * stride + i) * size + s * stride + j;
                    expected[at as usize] += x.data()[((c * h + r) * h + s) as usize]
                        * weight.data()[(((c * co + o) * k + i) * k + j) as usize];
                }
            }
            prop_assert_eq!(y.data(), expected.as_slice());
        }
    }

    #[test]
    fn pooling_ignores_padding() {
        let x = Tensor::new(Shape::f32([1, 1, 2, 3]), vec![-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]).unwrap();
        let window = [WindowDim::new(3, 2, 1); 2];
        assert_eq!(reduce_window(ReduceOp::Max, &x, &window).unwrap().data(), [-1.0, -2.0]);
        assert_eq!(reduce_window(ReduceOp::Sum, &x, &window).unwrap().data(), [-12.0, -16.0]);
    }

    #[test]
    fn a_dilated_window_skips_elements() {
        let x = Tensor::from_fn(Shape::f32([1, 1, 1, 5]), |i| i as f32).unwrap();
        let k = Tensor::new(Shape::f32([1, 1, 1, 2]), vec![1.0, 10.0]).unwrap();
        let window = [WindowDim::new(1, 1, 0), WindowDim { window_dilation: 3, ..WindowDim::new(2, 1, 0) }];
        assert_eq!(convolution(&x, &k, &window, 1).unwrap().data(), [30.0, 41.0]);
    }

    #[test]
    fn windows_that_do_not_fit_are_refused() {
        let (x, k) = (counting(&[1, 3, 4, 4]), counting(&[2, 3, 5, 5]));
        let e = convolution(&x, &k, &[WindowDim::new(5, 1, 0); 2], 1).unwrap_err();
        assert!(e.to_string().ends_with("the window does not fit the padded input"), "{e}");
        assert!(convolution(&x, &k, &[WindowDim::new(5, 1, 1); 2], 2).is_err());
        assert!(convolution(&x, &k, &[WindowDim::new(5, 0, 1); 2], 1).is_err());
        assert!(reduce_window(ReduceOp::Max, &counting(&[4, 4]), &[WindowDim::new(2, 2, 0); 2]).is_err());
        assert_eq!(WindowDim::new(1, 1, u64::MAX).output(2), None);
        assert_eq!(WindowDim::transposed(2, 2, 2), None);
    }
}
