//! Reductions, over whole dimensions and over windows.

use super::super::{ArrayType, Binary, ComputationId, ElementType, InstructionId, Op, Type, WindowDim};
use super::core::{Builder, Built};
use ns_base::Order;
use ns_base::convert::{self, usize_to_u32};
use ns_base::{Refusal, refuse};

impl Builder {
    /// Combines elements along dimensions, which disappear or stay with size one. Fails when the array does not have these
    /// dimensions.
    pub fn reduce(&mut self, with: Binary, x: InstructionId, dimensions: &[usize], keeps: bool) -> Built {
        let ty = self.array(x)?.clone();
        for &d in dimensions {
            self.size(x, d)?;
        }
        let first = self.first_value(with, ty.element)?;
        let reducer = self.reducer(with, ty.element)?;
        let dims: Vec<u64> =
            ty.dims.iter().enumerate().filter(|(d, _)| !dimensions.contains(d)).map(|(_, &n)| n).collect();
        let mut sorted: Vec<u32> = dimensions.iter().map(|&d| usize_to_u32(d)).collect();
        sorted.order();
        sorted.dedup();
        let result = Type::Array(ArrayType::new(ty.element, dims));
        let reduced = if sorted.is_empty() {
            x
        } else {
            self.push(Op::Reduce { dimensions: sorted }, vec![x, first], vec![reducer], result)?
        };
        if !keeps {
            return Ok(reduced);
        }
        let kept: Vec<u64> =
            ty.dims.iter().enumerate().map(|(d, &n)| if dimensions.contains(&d) { 1 } else { n }).collect();
        self.reshape(reduced, &kept)
    }

    /// Mean along dimensions, in the array's own element type. Fails as [`Self::reduce`].
    pub fn mean(&mut self, x: InstructionId, dimensions: &[usize], keeps: bool) -> Built {
        let sum = self.reduce(Binary::Add, x, dimensions, keeps)?;
        let mut count = 1.0;
        for &d in dimensions {
            count *= convert::u64_to_f64(self.size(x, d)?);
        }
        self.with_number(Binary::Div, sum, count)
    }

    /// Combines the elements under each window; padding is ignored. Fails when there is not one window for each dimension, or a
    /// window is larger than the padded array.
    pub fn reduce_window(&mut self, with: Binary, x: InstructionId, window: Vec<WindowDim>) -> Built {
        let ty = self.array(x)?.clone();
        if window.len() != ty.dims.len() {
            return Err(refuse!("{} windows are given for {ty}", window.len()));
        }
        let mut dims = Vec::with_capacity(window.len());
        for (&n, w) in ty.dims.iter().zip(&window) {
            dims.push(places(n, w)?);
        }
        let first = self.first_value(with, ty.element)?;
        let reducer = self.reducer(with, ty.element)?;
        let result = Type::Array(ArrayType::new(ty.element, dims));
        self.push(Op::ReduceWindow { window }, vec![x, first], vec![reducer], result)
    }

    /// The computation of two numbers that a reduction calls. Fails as [`Self::push`].
    pub fn reducer(&mut self, with: Binary, element: ElementType) -> Result<ComputationId, Refusal> {
        if let Some(&known) = self.reducers.get(&(with, element)) {
            return Ok(known);
        }
        let one = Type::Array(ArrayType::new(element, []));
        let name = format!("{with:?}").to_ascii_lowercase();
        let made = self.computation(&name, &[one.clone(), one], |b, p| b.binary(with, p[0], p[1]))?;
        self.reducers.insert((with, element), made);
        Ok(made)
    }

    /// The initial value of a reduction, which does not change the result. Fails when the function does not have one.
    pub fn first_value(&mut self, with: Binary, element: ElementType) -> Built {
        let (_, most) = limits(element);
        match with {
            Binary::Add | Binary::Or | Binary::Xor => self.number(element, 0.0),
            Binary::Mul => self.number(element, 1.0),
            Binary::And if element == ElementType::Pred => self.number(element, 1.0),
            Binary::And => self.whole(element, -1),
            Binary::Max => self.least(element),
            Binary::Min => self.limit(element, most),
            other => Err(refuse!("an array cannot be reduced with {other:?}")),
        }
    }

    /// The smallest number of an element type. Fails as [`Self::push`].
    pub fn least(&mut self, element: ElementType) -> Built {
        self.limit(element, limits(element).0)
    }

    /// The smallest or largest number of an element type.
    fn limit(&mut self, element: ElementType, (real, whole): (f64, i64)) -> Built {
        if element.is_float() { self.number(element, real) } else { self.whole(element, whole) }
    }
}

/// Smallest and largest number of an element type, as a floating point number and as an integer.
pub(super) fn limits(element: ElementType) -> ((f64, i64), (f64, i64)) {
    let (least, most) = match element {
        ElementType::Pred => (0, 1),
        ElementType::S64 => (i64::MIN, i64::MAX),
        // All bits set, as the numbers of this type are kept.
        ElementType::U64 => (0, -1),
        e if e.is_signed_integer() => (-(1i64 << (e.bits() - 1)), (1i64 << (e.bits() - 1)) - 1),
        e if e.is_integer() => (0, (1i64 << e.bits()) - 1),
        _ => (0, 0),
    };
    let infinite = element.largest_float8().filter(|_| !element.has_infinities()).unwrap_or(f64::INFINITY);
    ((-infinite, least), (infinite, most))
}

/// The refusal of a window that does not fit in a dimension of `size` elements.
pub(crate) fn no_window(w: &WindowDim, size: u64) -> Refusal {
    let (elements, stride, dilation, low, high) = (w.size, w.stride, w.window_dilation, w.pad_low, w.pad_high);
    refuse!(
        "a window of {elements} elements (stride {stride}, dilation {dilation}, padding {low} and {high}) does not fit a dimension of {size}"
    )
}

/// Number of positions of a window along a dimension of `size`. Fails when the window does not fit, or when its size, stride or
/// dilation is 0.
pub(super) fn places(size: u64, w: &WindowDim) -> Result<u64, Refusal> {
    let wrong = || no_window(w, size);
    if w.size == 0 || w.stride == 0 || w.window_dilation == 0 || w.base_dilation == 0 {
        return Err(wrong());
    }
    let spread = |n: u64, step: u64| i128::from(n.saturating_sub(1)) * i128::from(step) + i128::from(n.min(1));
    let padded = spread(size, w.base_dilation) + i128::from(w.pad_low) + i128::from(w.pad_high);
    let room = padded - spread(w.size, w.window_dilation);
    if room < 0 {
        return Err(wrong());
    }
    u64::try_from(room / i128::from(w.stride) + 1).map_err(|_| wrong())
}
