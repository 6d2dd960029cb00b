//! Numbers of weights, read from the file when they are wanted.

use half::{bf16, f16};

use super::program::{ArrayType, ElementType, Numbers, ProgramParameter, Value, WeightData};
use super::{ImportError, ModelBytes, Place};

/// The numbers of a parameter; none when the file does not hold them.
///
/// # Errors
/// When they run past the end of the file, or when their element type is not read.
pub fn load_parameter(bytes: &dyn ModelBytes, parameter: &ProgramParameter) -> Result<Option<Value>, ImportError> {
    let wrong = |what: String| ImportError::at(Place::Node(parameter.name.clone()), what, "save the model again");
    match &parameter.data {
        WeightData::Absent => Ok(None),
        WeightData::Held(value) => Ok(Some((**value).clone())),
        WeightData::InFile { offset, len, strides } => {
            let wanted = usize::try_from(*len).unwrap_or(usize::MAX);
            let raw = bytes.slice(*offset, wanted).map_err(|e| wrong(format!("its numbers cannot be read: {e}")))?;
            if raw.len() != wanted {
                return Err(wrong(format!("its {len} bytes at byte {offset} run past the end of the file")));
            }
            decode(&parameter.ty, &raw, strides).map(Some).map_err(wrong)
        }
    }
}

/// Little-endian numbers as a value. `strides` are distances between neighbours in elements; none for row-major order.
///
/// # Errors
/// When there are too few bytes or the element type is not read.
pub fn decode(ty: &ArrayType, raw: &[u8], strides: &[i64]) -> Result<Value, String> {
    let size = usize::try_from(ty.element.bits() / 8).unwrap_or(0);
    if size == 0 {
        return Err(format!("numbers of type {} are not read", ty.element));
    }
    let elements = ty.elements().and_then(|n| usize::try_from(n).ok()).ok_or("it has too many elements")?;
    if strides.is_empty() && elements.checked_mul(size) != Some(raw.len()) {
        return Err(format!("{} bytes are not those of {ty}", raw.len()));
    }
    let places: Box<dyn Iterator<Item = Option<usize>>> = if strides.is_empty() {
        Box::new((0..elements).map(Some))
    } else {
        Box::new((0..elements).map(|i| place(i, &ty.dims, strides)))
    };
    let bytes_of = places.map(|at| at.and_then(|at| raw.get(at.checked_mul(size)?..(at + 1).checked_mul(size)?)));
    let numbers = if ty.element.is_complex() {
        let half = size / 2;
        let pair = |b: &[u8]| Some([real(half, &b[..half])?, real(half, &b[half..])?]);
        bytes_of.map(|b| pair(b?)).collect::<Option<Vec<_>>>().map(Numbers::Complex)
    } else if ty.element.is_float() {
        bytes_of.map(|b| float(ty.element, b?)).collect::<Option<Vec<_>>>().map(Numbers::Real)
    } else {
        bytes_of.map(|b| whole(ty.element, b?)).collect::<Option<Vec<_>>>().map(Numbers::Whole)
    };
    let numbers = numbers.ok_or_else(|| format!("its bytes are not those of {ty}"))?;
    Ok(Value { ty: ty.clone(), numbers })
}

/// Where the `i`-th element in row-major order lies.
fn place(i: usize, dims: &[u64], strides: &[i64]) -> Option<usize> {
    let mut rest = i as u64;
    let mut at = 0i64;
    for (&n, &stride) in dims.iter().zip(strides).rev() {
        at = at.checked_add(stride.checked_mul((rest % n.max(1)) as i64)?)?;
        rest /= n.max(1);
    }
    usize::try_from(at).ok()
}

fn real(size: usize, b: &[u8]) -> Option<f64> {
    if size == 4 {
        Some(f64::from(f32::from_le_bytes(b.try_into().ok()?)))
    } else {
        Some(f64::from_le_bytes(b.try_into().ok()?))
    }
}

fn float(element: ElementType, b: &[u8]) -> Option<f64> {
    match element {
        ElementType::F16 => Some(f16::from_le_bytes(b.try_into().ok()?).to_f64()),
        ElementType::Bf16 => Some(bf16::from_le_bytes(b.try_into().ok()?).to_f64()),
        ElementType::F32 | ElementType::F64 => real(b.len(), b),
        ElementType::F8E4M3Fn => Some(small_float(*b.first()?, 4, true)),
        ElementType::F8E5M2 => Some(small_float(*b.first()?, 5, false)),
        _ => None,
    }
}

/// A float of 8 bits with so many of them exponent; without infinities, only all ones are not a number.
fn small_float(bits: u8, exponent_bits: u32, is_finite: bool) -> f64 {
    let mantissa_bits = 7 - exponent_bits;
    let (exponent, mantissa) = ((bits & 0x7f) >> mantissa_bits, bits & ((1 << mantissa_bits) - 1));
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let top = (1u8 << exponent_bits) - 1;
    let step = libm::exp2(-f64::from(mantissa_bits));
    let size = match (exponent, is_finite) {
        (0, _) => f64::from(mantissa) * step * libm::exp2(f64::from(1 - bias)),
        (e, true) if e == top && mantissa == (1 << mantissa_bits) - 1 => f64::NAN,
        (e, false) if e == top => {
            if mantissa == 0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        (e, _) => (1.0 + f64::from(mantissa) * step) * libm::exp2(f64::from(i32::from(e) - bias)),
    };
    if bits & 0x80 != 0 { -size } else { size }
}

fn whole(element: ElementType, b: &[u8]) -> Option<i64> {
    let mut wide = [0; 8];
    wide.get_mut(..b.len())?.copy_from_slice(b);
    let bits = i64::from_le_bytes(wide);
    let unused = 64 - element.bits();
    Some(match element {
        ElementType::Pred => i64::from(bits != 0),
        e if e.is_signed_integer() => bits << unused >> unused,
        _ => bits,
    })
}

#[cfg(test)]
mod tests {
    use super::{ArrayType, ElementType, Numbers, decode};

    #[test]
    fn numbers_are_read_by_their_strides() {
        let ty = ArrayType::new(ElementType::S16, [2, 2]);
        let raw = [1, 0, 0xff, 0xff, 3, 0, 4, 0];
        assert_eq!(decode(&ty, &raw, &[]).unwrap().numbers, Numbers::Whole(vec![1, -1, 3, 4]));
        assert_eq!(decode(&ty, &raw, &[1, 2]).unwrap().numbers, Numbers::Whole(vec![1, 3, -1, 4]));
        assert!(decode(&ty, &raw[..6], &[]).is_err());
        assert!(decode(&ty, &raw, &[9, 1]).is_err());
    }

    #[test]
    fn floats_of_eight_bits_have_their_values() {
        let ty = ArrayType::new(ElementType::F8E4M3Fn, [4]);
        let want = Numbers::Real(vec![1.0, -448.0, 0.001_953_125, 0.0]);
        assert_eq!(decode(&ty, &[0x38, 0xfe, 0x01, 0], &[]).unwrap().numbers, want);
    }
}
