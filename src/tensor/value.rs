//! A tensor: a shape and its values.

use ns_base::Digest;
use ns_base::convert::u64_to_usize;

use super::{DType, FloatFormat, Rounder, Shape, TensorError, round_slice};

/// Most elements of one tensor: 256 Mi values are 1 GiB, half of the largest wasm32 allocation.
pub const MAX_ELEMENTS: u64 = 1 << 28;

/// A dense tensor in row-major order. Values are stored as `f32`, already rounded to the shape's element type.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Shape,
    data: Vec<f32>,
}

impl Tensor {
    /// A tensor of given values, rounded to the shape's element type.
    ///
    /// # Errors
    /// When the number of values is not the number of elements.
    pub fn new(shape: Shape, mut data: Vec<f32>) -> Result<Self, TensorError> {
        let needed = shape.elements();
        if needed != data.len() as u64 {
            return Err(TensorError::DataLength { shape, needed, found: data.len() as u64 });
        }
        round_slice(shape.dtype, &mut data);
        Ok(Self { shape, data })
    }

    /// A tensor whose values come from a function, called for each row-major position in ascending order.
    ///
    /// # Errors
    /// When the shape has more than [`MAX_ELEMENTS`] elements or memory runs out.
    pub fn from_fn(shape: Shape, mut value: impl FnMut(usize) -> f32) -> Result<Self, TensorError> {
        let mut data = allocate(&shape)?;
        let len = u64_to_usize(shape.elements());
        data.extend((0..len).map(&mut value));
        round_slice(shape.dtype, &mut data);
        Ok(Self { shape, data })
    }

    /// A tensor with the same value everywhere.
    ///
    /// # Errors
    /// As [`Tensor::from_fn`].
    pub fn splat(shape: Shape, value: f32) -> Result<Self, TensorError> {
        Self::from_fn(shape, |_| value)
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[u64] {
        &self.shape.dims
    }

    /// The values in row-major order.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// The values, owned.
    pub fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// Rounds every value to a format. The element type can still hold the values, because every format is a subset of
    /// it.
    pub fn round_values(&mut self, format: FloatFormat, rounder: &mut Rounder) {
        if self.shape.dtype == DType::F32 {
            rounder.round_slice(format, &mut self.data);
        }
    }

    /// The same values with another shape of the same number of elements; a change of element type rounds them.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshaped(self, shape: Shape) -> Result<Self, TensorError> {
        if shape.checked_elements() != self.shape.checked_elements() {
            return Err(TensorError::Mismatch {
                op: "reshape",
                left: self.shape,
                right: shape,
                expected: "the same number of elements".to_owned(),
            });
        }
        Self::new(shape, self.data)
    }

    /// Whether shapes are equal and values have the same bits; all NaNs count as one.
    pub fn same_bits(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.data.iter().zip(&other.data).all(|(a, b)| canonical_bits(*a) == canonical_bits(*b))
    }

    /// The largest absolute difference of two tensors of equal shape; `None` when the shapes differ or only one of two
    /// elements is NaN.
    pub fn max_abs_difference(&self, other: &Self) -> Option<f32> {
        if self.shape != other.shape {
            return None;
        }
        let mut worst = 0.0f32;
        for (a, b) in self.data.iter().zip(&other.data) {
            if a.is_nan() && b.is_nan() || a == b {
                continue;
            }
            let d = (a - b).abs();
            if d.is_nan() {
                return None;
            }
            if d > worst {
                worst = d;
            }
        }
        Some(worst)
    }

    /// A digest of shape and values, the same on every target.
    pub fn digest(&self) -> u64 {
        let start = Digest::default().text(&self.shape.to_string());
        self.data.iter().fold(start, |d, v| d.bytes(&canonical_bits(*v).to_le_bytes())).finish()
    }
}

/// An empty vector with capacity for a shape's elements.
pub(super) fn allocate(shape: &Shape) -> Result<Vec<f32>, TensorError> {
    let elements = shape.elements();
    let too_large = || TensorError::TooLarge { shape: shape.clone(), elements, limit: MAX_ELEMENTS };
    if elements > MAX_ELEMENTS {
        return Err(too_large());
    }
    let mut data = Vec::new();
    data.try_reserve_exact(u64_to_usize(elements)).map_err(|_| too_large())?;
    Ok(data)
}

/// The bits of a value, the same for every NaN, because NaN payloads differ between targets.
fn canonical_bits(v: f32) -> u32 {
    if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_must_fill_the_shape() {
        let e = Tensor::new(Shape::f32([2, 3]), vec![0.0; 5]).unwrap_err();
        assert_eq!(e.to_string(), "a tensor of f32[2,3] needs 6 values, 5 were given");
    }

    #[test]
    fn absurd_shapes_are_refused_before_memory_is_touched() {
        for dims in [vec![1 << 20, 1 << 20], vec![u64::MAX, u64::MAX], vec![u64::MAX, 2]] {
            assert!(matches!(Tensor::splat(Shape::f32(dims), 0.0), Err(TensorError::TooLarge { .. })));
        }
    }

    #[test]
    fn values_are_rounded_to_the_element_type() {
        let t = Tensor::new(Shape::new(DType::Bf16, [2]), vec![1.0 + 1.0 / 256.0, 3.0]).unwrap();
        assert_eq!(t.data(), [1.0, 3.0]);
    }

    #[test]
    fn nan_payloads_do_not_matter_but_signs_of_zero_do() {
        let make = |v: f32| Tensor::new(Shape::f32([1]), vec![v]).unwrap();
        let (a, b) = (make(f32::NAN), make(f32::from_bits(0xffc0_0001)));
        assert!(a.same_bits(&b) && a.digest() == b.digest());
        assert!(!make(0.0).same_bits(&make(-0.0)));
        assert_eq!(make(1.0).max_abs_difference(&make(f32::NAN)), None);
    }
}
