//! Converts the bytes of weights and literals in files to numbers.

use super::{ElementType, Numbers};
use ns_base::convert::{low8, low16, low32};

impl ElementType {
    /// The floating point number of a bit pattern; zero for other types.
    pub fn real_of_bits(self, bits: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(bits),
            Self::F32 => f64::from(f32::from_bits(low32(bits))),
            Self::F16 => half::f16::from_bits(low16(bits)).to_f64(),
            Self::Bf16 => half::bf16::from_bits(low16(bits)).to_f64(),
            Self::F8E4M3Fn => small(low8(bits), 4, 3, Top::OneNan),
            Self::F8E4M3 => small(low8(bits), 4, 3, Top::Ieee),
            Self::F8E5M2 => small(low8(bits), 5, 2, Top::Ieee),
            Self::F8E4M3Fnuz => small(low8(bits), 4, 3, Top::Numbers),
            Self::F8E5M2Fnuz => small(low8(bits), 5, 2, Top::Numbers),
            _ => 0.0,
        }
    }

    /// The signed integer of a bit pattern.
    pub fn whole_of_bits(self, bits: u64) -> i64 {
        let width = self.bits().min(64) as u32;
        match self {
            Self::Pred => i64::from(bits != 0),
            _ if width == 64 => bits.cast_signed(),
            _ if self.is_signed_integer() => (bits << (64 - width)).cast_signed() >> (64 - width),
            _ => (bits & ((1 << width) - 1)).cast_signed(),
        }
    }
}

/// What the largest exponent encodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    /// Infinities and NaNs.
    Ieee,
    /// Numbers; only the pattern of all ones is NaN.
    OneNan,
    /// Numbers alone; the pattern of minus zero is NaN, and the exponent is one less than elsewhere.
    Numbers,
}

impl Top {
    /// What is taken from an exponent.
    pub(super) const fn bias(self, exponent_bits: u32) -> i32 {
        let half = 1i32 << (exponent_bits - 1);
        if matches!(self, Self::Numbers) { half } else { half - 1 }
    }
}

fn small(bits: u8, exponent_bits: u32, mantissa_bits: u32, top: Top) -> f64 {
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let mantissa = u32::from(bits) & ((1 << mantissa_bits) - 1);
    let exponent = (u32::from(bits) >> mantissa_bits) & ((1 << exponent_bits) - 1);
    let bias = top.bias(exponent_bits);
    if top == Top::Numbers && bits == 0x80 {
        return f64::NAN;
    }
    let largest = (1 << exponent_bits) - 1;
    let all_ones = (1 << mantissa_bits) - 1;
    if exponent == largest && (top == Top::Ieee || top == Top::OneNan && mantissa == all_ones) {
        return if top == Top::Ieee && mantissa == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let unit = 1.0 / f64::from(1 << mantissa_bits);
    let (significand, power) = match exponent {
        0 => (f64::from(mantissa) * unit, 1 - bias),
        _ => (1.0 + f64::from(mantissa) * unit, exponent.cast_signed() - bias),
    };
    sign * libm::ldexp(significand, power)
}

/// The numbers in little-endian bytes; `None` if the last element is cut off.
///
/// Each 4-bit number takes a whole byte.
pub fn numbers_of_bytes(element: ElementType, bytes: &[u8]) -> Option<Numbers> {
    let width = usize::try_from(element.bits().div_ceil(8)).ok()?;
    if !bytes.len().is_multiple_of(width) {
        return None;
    }
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    let chunks = bytes.chunks_exact(width);
    Some(match element {
        ElementType::C64 | ElementType::C128 => {
            let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let half = width / 2;
            Numbers::Complex(
                chunks.map(|c| [part.real_of_bits(word(&c[..half])), part.real_of_bits(word(&c[half..]))]).collect(),
            )
        }
        _ if element.is_float() => Numbers::Real(chunks.map(|c| element.real_of_bits(word(c))).collect()),
        _ => Numbers::Whole(chunks.map(|c| element.whole_of_bits(word(c))).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_eight_bits() {
        assert_eq!(ElementType::F8E4M3Fn.real_of_bits(0x7e), 448.0);
        assert!(ElementType::F8E4M3Fn.real_of_bits(0xff).is_nan());
        assert_eq!(ElementType::F8E4M3.real_of_bits(0x77), 240.0);
        assert_eq!(ElementType::F8E5M2.real_of_bits(0xfc), f64::NEG_INFINITY);
        assert_eq!(ElementType::F8E5M2.real_of_bits(0x01), 2f64.powi(-16));
        assert_eq!([0x7f, 0xff].map(|bits| ElementType::F8E4M3Fnuz.real_of_bits(bits)), [240.0, -240.0]);
        assert!(ElementType::F8E5M2Fnuz.real_of_bits(0x80).is_nan());
    }

    #[test]
    fn whole_numbers_keep_their_sign() {
        assert_eq!(numbers_of_bytes(ElementType::S8, &[0xff, 1]), Some(Numbers::Whole(vec![-1, 1])));
        assert_eq!(numbers_of_bytes(ElementType::U16, &[0xff, 0xff]), Some(Numbers::Whole(vec![65535])));
        assert_eq!(numbers_of_bytes(ElementType::U64, &[0xff; 8]), Some(Numbers::Whole(vec![-1])));
        assert_eq!(numbers_of_bytes(ElementType::F32, &[0; 5]), None);
        assert_eq!(
            numbers_of_bytes(ElementType::C64, &[0, 0, 128, 63, 0, 0, 0, 64]),
            Some(Numbers::Complex(vec![[1.0, 2.0]]))
        );
        assert_eq!(numbers_of_bytes(ElementType::F16, &[0, 0x3c]), Some(Numbers::Real(vec![1.0])));
    }
}
