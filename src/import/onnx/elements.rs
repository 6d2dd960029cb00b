//! Element types by ONNX's numbers, and numbers out of bytes.

use super::super::program::{ElementType, Numbers, wrap};

/// The element type of a number of `TensorProto.DataType`; none of text and of types that XLA has not.
pub(super) const fn element(code: u64) -> Option<ElementType> {
    Some(match code {
        1 => ElementType::F32,
        2 => ElementType::U8,
        3 => ElementType::S8,
        4 => ElementType::U16,
        5 => ElementType::S16,
        6 => ElementType::S32,
        7 => ElementType::S64,
        9 => ElementType::Pred,
        10 => ElementType::F16,
        11 => ElementType::F64,
        12 => ElementType::U32,
        13 => ElementType::U64,
        14 => ElementType::C64,
        15 => ElementType::C128,
        16 => ElementType::Bf16,
        17 => ElementType::F8E4M3Fn,
        19 => ElementType::F8E5M2,
        21 => ElementType::U4,
        22 => ElementType::S4,
        _ => return None,
    })
}

/// The name of a number of `TensorProto.DataType`, for messages.
pub(super) const fn element_name(code: u64) -> &'static str {
    match code {
        0 => "undefined",
        8 => "string",
        18 => "float8e4m3fnuz",
        20 => "float8e5m2fnuz",
        23 => "float4e2m1",
        _ => "of an unknown number",
    }
}

/// Numbers of little-endian bytes; none when the bytes are fewer than `count` elements need.
pub(super) fn numbers(element: ElementType, bytes: &[u8], count: usize) -> Option<Numbers> {
    let bits = usize::try_from(element.bits()).ok()?;
    if bytes.len() < count.checked_mul(bits)?.div_ceil(8) {
        return None;
    }
    let width = bits / 8;
    let word = |i: usize| bytes[i * width..(i + 1) * width].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    Some(match element {
        ElementType::F64 => Numbers::Real((0..count).map(|i| f64::from_bits(word(i))).collect()),
        ElementType::F32 => Numbers::Real((0..count).map(|i| f64::from(f32::from_bits(word(i) as u32))).collect()),
        ElementType::F16 | ElementType::Bf16 | ElementType::F8E4M3 | ElementType::F8E4M3Fn | ElementType::F8E5M2 => {
            Numbers::Real((0..count).map(|i| small_float(element, word(i) as u16)).collect())
        }
        ElementType::C64 => Numbers::Complex(
            (0..count).map(word).map(|w| [w as u32, (w >> 32) as u32].map(|b| f64::from(f32::from_bits(b)))).collect(),
        ),
        ElementType::C128 => {
            let half = |at: usize| bytes[at..at + 8].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
            Numbers::Complex((0..count).map(|i| [half(i * 16), half(i * 16 + 8)].map(f64::from_bits)).collect())
        }
        ElementType::S4 | ElementType::U4 => {
            let nibble = |i: usize| i64::from(bytes[i / 2] >> (4 * (i % 2)) & 15);
            let signed = |n: i64| if element == ElementType::S4 && n > 7 { n - 16 } else { n };
            Numbers::Whole((0..count).map(|i| signed(nibble(i))).collect())
        }
        _ => Numbers::Whole((0..count).map(|i| wrap(element, word(i) as i64)).collect()),
    })
}

/// The number of the bits of a floating point type of 16 or 8 bits.
pub(super) fn small_float(element: ElementType, bits: u16) -> f64 {
    match element {
        ElementType::F16 => half::f16::from_bits(bits).to_f64(),
        ElementType::Bf16 => half::bf16::from_bits(bits).to_f64(),
        ElementType::F8E5M2 => half::f16::from_bits(bits << 8).to_f64(),
        // Four bits of exponent with a bias of 7, three of mantissa.
        _ => {
            let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
            let (exponent, mantissa) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
            match (exponent, bits & 7) {
                (15, 7) if element == ElementType::F8E4M3Fn => f64::NAN,
                (15, 0) if element == ElementType::F8E4M3 => sign * f64::INFINITY,
                (15, _) if element == ElementType::F8E4M3 => f64::NAN,
                (0, _) => sign * mantissa * libm::ldexp(1.0, -9),
                _ => sign * (1.0 + mantissa / 8.0) * libm::ldexp(1.0, exponent - 7),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_each_width() {
        assert_eq!(numbers(ElementType::S64, &[255; 8], 1), Some(Numbers::Whole(vec![-1])));
        assert_eq!(numbers(ElementType::U32, &[255; 4], 1), Some(Numbers::Whole(vec![4_294_967_295])));
        assert_eq!(numbers(ElementType::F32, &[0, 0, 128, 63], 1), Some(Numbers::Real(vec![1.0])));
        assert_eq!(numbers(ElementType::S4, &[0xf1], 2), Some(Numbers::Whole(vec![1, -1])));
        assert_eq!(numbers(ElementType::F16, &[0, 0x3c], 1), Some(Numbers::Real(vec![1.0])));
        assert_eq!(numbers(ElementType::F32, &[0; 3], 1), None);
    }

    #[test]
    fn floats_of_eight_bits() {
        assert_eq!(small_float(ElementType::F8E4M3Fn, 0x38), 1.0);
        assert_eq!(small_float(ElementType::F8E4M3Fn, 0x7e), 448.0);
        assert_eq!(small_float(ElementType::F8E5M2, 0x3c), 1.0);
        assert!(small_float(ElementType::F8E4M3Fn, 0xff).is_nan());
    }
}
