//! Tensors in device memory, and numbers as bytes.

use crate::types::Scalar;
use crate::value::Value;
use ns_base::convert::{f64_to_f32, f64_to_i64, i64_to_f64, low32, u64_to_usize};

/// A tensor in device memory. For every element it records whether and by which processor it was written.
#[derive(Clone, Debug)]
pub struct HbmTensor {
    pub(crate) dims: Vec<u64>,
    pub of: Scalar,
    pub(crate) bytes: Vec<u8>,
    /// 0 for an element that was never written, else the processor's number plus 1.
    pub(crate) writer: Vec<u8>,
}

/// Written before the kernel began.
pub(crate) const BEFORE_KERNEL: u8 = u8::MAX;

impl HbmTensor {
    /// A tensor of floats, row-major.
    pub fn from_f32(dims: &[u64], values: &[f32]) -> Self {
        Self {
            dims: dims.to_vec(),
            of: Scalar::F32,
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            writer: vec![BEFORE_KERNEL; values.len()],
        }
    }

    /// A tensor of another element type, row-major: values are converted as PyTorch casts them.
    pub fn of_type(dims: &[u64], values: &[f32], of: Scalar) -> Self {
        if of == Scalar::F32 {
            return Self::from_f32(dims, values);
        }
        let size = u64_to_usize(of.bytes());
        let mut bytes = vec![0; values.len() * size];
        for (x, to) in values.iter().zip(bytes.chunks_exact_mut(size)) {
            let value =
                if of == Scalar::F64 { Value::F64(f64::from(*x)) } else { Value::Int(f64_to_i64(f64::from(*x))) };
            encode(value, of, to);
        }
        Self { dims: dims.to_vec(), of, bytes, writer: vec![BEFORE_KERNEL; values.len()] }
    }

    /// A tensor without values; `None` when memory does not suffice.
    pub(crate) fn empty(dims: &[u64], of: Scalar) -> Option<Self> {
        /// More than any example needs, and less than a browser's memory.
        const MOST_BYTES: u64 = 256 * 1024 * 1024;
        let elements = dims.iter().try_fold(1_u64, |n, d| n.checked_mul(*d))?;
        let bytes = elements.checked_mul(of.bytes()).filter(|b| *b <= MOST_BYTES)?;
        Some(Self {
            dims: dims.to_vec(),
            of,
            bytes: zeroed(usize::try_from(bytes).ok()?)?,
            writer: zeroed(usize::try_from(elements).ok()?)?,
        })
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.writer.len() as u64
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Each element as a float; `None` for an element that was never written.
    pub fn values(&self) -> Vec<Option<f32>> {
        (0..self.writer.len()).map(|i| (self.writer[i] != 0).then(|| f64_to_f32(self.number(i)))).collect()
    }

    fn number(&self, index: usize) -> f64 {
        match self.read(index) {
            Value::F32(x) => f64::from(x),
            Value::F64(x) => x,
            Value::Int(i) => i64_to_f64(i),
            _ => 0.0,
        }
    }

    /// The element at an index, which must be within bounds.
    pub(crate) fn read(&self, index: usize) -> Value {
        let size = u64_to_usize(self.of.bytes());
        self.bytes.get(index * size..(index + 1) * size).map_or(Value::Uninit, |b| decode(b, self.of))
    }

    /// Writes the element at an index, which must be within bounds.
    pub(crate) fn write(&mut self, index: usize, value: Value, writer: u8) {
        let size = u64_to_usize(self.of.bytes());
        if let Some(bytes) = self.bytes.get_mut(index * size..(index + 1) * size) {
            encode(value, self.of, bytes);
        }
        if let Some(w) = self.writer.get_mut(index) {
            *w = writer;
        }
    }

    /// The distance in elements between two neighbouring indices of a dimension.
    pub(crate) fn stride(&self, level: usize) -> i64 {
        (self.dims.iter().skip(level + 1).product::<u64>()).cast_signed()
    }
}

/// Zeros, or `None` when memory does not suffice.
pub(crate) fn zeroed(len: usize) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    data.try_reserve_exact(len).ok()?;
    data.resize(len, 0);
    Some(data)
}

/// A number from its bytes, lowest first.
pub(crate) fn decode(bytes: &[u8], of: Scalar) -> Value {
    let mut wide = [0_u8; 8];
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(wide);
    match of {
        Scalar::F32 => Value::F32(f32::from_bits(low32(bits))),
        Scalar::F64 => Value::F64(f64::from_bits(bits)),
        integer => Value::Int(crate::arithmetic::wrap(bits.cast_signed(), integer)),
    }
}

/// A number's bytes, lowest first.
pub(crate) fn encode(value: Value, of: Scalar, bytes: &mut [u8]) {
    let bits = match value {
        Value::F32(x) => u64::from(x.to_bits()),
        Value::F64(x) => x.to_bits(),
        Value::Int(i) => i.cast_unsigned(),
        _ => 0,
    };
    debug_assert_eq!(bytes.len() as u64, of.bytes());
    for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()) {
        *to = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_numbers() {
        for (of, value) in [
            (Scalar::F32, Value::F32(-1.5)),
            (Scalar::F64, Value::F64(1e300)),
            (Scalar::I8, Value::Int(-7)),
            (Scalar::U16, Value::Int(65_535)),
            (Scalar::I64, Value::Int(i64::MIN)),
        ] {
            let mut bytes = vec![0; of.bytes() as usize];
            encode(value, of, &mut bytes);
            assert_eq!(decode(&bytes, of), value);
        }
    }

    #[test]
    fn values_are_cast_as_pytorch_casts() {
        let values = [-2.9, 0.5, 300.0];
        let read =
            |of| HbmTensor::of_type(&[3], &values, of).values().into_iter().map(Option::unwrap).collect::<Vec<_>>();
        assert_eq!(read(Scalar::F32), values);
        assert_eq!(read(Scalar::I64), [-2.0, 0.0, 300.0]);
        assert_eq!(read(Scalar::I8), [-2.0, 0.0, 44.0]);
        assert_eq!(read(Scalar::U8), [254.0, 0.0, 44.0]);
    }

    #[test]
    fn a_tensor_is_bounded() {
        assert!(HbmTensor::empty(&[1 << 40, 1 << 40], Scalar::F32).is_none());
        let t = HbmTensor::empty(&[2, 3], Scalar::F32).unwrap();
        assert_eq!((t.elements(), t.stride(0), t.stride(1)), (6, 3, 1));
        assert_eq!(t.values(), vec![None; 6]);
    }
}
