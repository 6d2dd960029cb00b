//! Conversions between number types; each name says how it treats values that do not fit.
//!
//! A cast with `as` does not say this, so finished modules refuse it (`clippy::cast_*`). `From` is used where a type holds every
//! value of the other one.

/// A count as a real number: exact up to 2^53, the nearest one above.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn u64_to_f64(n: u64) -> f64 {
    n as f64
}

/// A length as a real number: exact up to 2^53, the nearest one above.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn usize_to_f64(n: usize) -> f64 {
    n as f64
}

/// A number with a sign as a real number: exact up to 2^53 on either side of 0, the nearest one beyond.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn i64_to_f64(n: i64) -> f64 {
    n as f64
}

/// A sum of numbers with signs as a real number: exact up to 2^53 on either side of 0, the nearest one beyond.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn i128_to_f64(n: i128) -> f64 {
    n as f64
}

/// A number as one of single precision: exact up to 2^24, the nearest one above.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn u32_to_f32(n: u32) -> f32 {
    n as f32
}

/// A count as a number of single precision: exact up to 2^24, the nearest one above.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn u64_to_f32(n: u64) -> f32 {
    n as f32
}

/// A number with a sign as one of single precision: exact up to 2^24 on either side of 0, the nearest one beyond.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn i64_to_f32(n: i64) -> f32 {
    n as f32
}

/// A length as a number of single precision: exact up to 2^24, the nearest one above.
#[allow(clippy::cast_precision_loss, reason = "what the function is for")]
pub const fn usize_to_f32(n: usize) -> f32 {
    n as f32
}

/// The single-precision number nearest to a real number, the even one of two equally near ones; infinite beyond the
/// greatest.
#[allow(clippy::cast_possible_truncation, reason = "what the function is for")]
pub const fn f64_to_f32(x: f64) -> f32 {
    x as f32
}

/// The whole part of a number: 0 for a negative number or NaN, the greatest `u64` for a number beyond it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what the function is for")]
pub const fn f64_to_u64(x: f64) -> u64 {
    x as u64
}

/// The whole part of a number as a length: 0 for a negative number or NaN, the greatest `usize` for a number beyond it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what the function is for")]
pub const fn f64_to_usize(x: f64) -> usize {
    x as usize
}

/// The whole part of a number with its sign: 0 for NaN, the least or the greatest `i64` for a number out of range.
#[allow(clippy::cast_possible_truncation, reason = "what the function is for")]
pub const fn f64_to_i64(x: f64) -> i64 {
    x as i64
}

/// A count as a signed number; the greatest `i64` for a count beyond it.
pub fn u64_to_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A length as a signed number; the greatest `i64` for a length beyond it.
pub fn usize_to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A signed number as a count; 0 for a negative number.
pub fn i64_to_u64(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// A number as an index into memory. On targets with 32-bit indices, a number out of range becomes the last index, where no element
/// is.
pub fn u64_to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// A length as a 32-bit number; the greatest `u32` for a length beyond it.
pub fn usize_to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A count as a 32-bit number; the greatest `u32` for a count beyond it.
pub fn u64_to_u32(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A signed number as a 32-bit one; the least or the greatest `i32` for a number out of range.
pub fn i64_to_i32(n: i64) -> i32 {
    i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX })
}

/// A length as a 16-bit number; the greatest `u16` for a length beyond it.
pub fn usize_to_u16(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

/// A length as an 8-bit number; the greatest `u8` for a length beyond it.
pub fn usize_to_u8(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// The lowest 8 bits of a number; those above are lost.
#[allow(clippy::cast_possible_truncation, reason = "what the function is for")]
pub const fn low8(n: u64) -> u8 {
    n as u8
}

/// The lowest 16 bits of a number; those above are lost.
#[allow(clippy::cast_possible_truncation, reason = "what the function is for")]
pub const fn low16(n: u64) -> u16 {
    n as u16
}

/// The lowest 32 bits of a number; those above are lost.
#[allow(clippy::cast_possible_truncation, reason = "what the function is for")]
pub const fn low32(n: u64) -> u32 {
    n as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn real_numbers_are_exact_up_to_their_digits() {
        assert_eq!(u64_to_f64(1 << 53), 9_007_199_254_740_992.0);
        assert_eq!(u64_to_f64((1 << 53) + 1), 9_007_199_254_740_992.0);
        assert_eq!(i64_to_f64(-(1 << 53) - 1), -9_007_199_254_740_992.0);
        assert_eq!(i128_to_f64(i128::from(i64::MIN) * 2), -18_446_744_073_709_551_616.0);
        assert_eq!(
            (usize_to_f64(7), u32_to_f32(1 << 24), u32_to_f32((1 << 24) + 1)),
            (7.0, 16_777_216.0, 16_777_216.0)
        );
        assert_eq!((u64_to_f32((1 << 24) + 1), usize_to_f32((1 << 24) + 1)), (16_777_216.0, 16_777_216.0));
        assert_eq!(i64_to_f32(-(1 << 24) - 1), -16_777_216.0);
        assert_eq!((f64_to_f32(0.1), f64_to_f32(1e39), f64_to_f32(-1e39)), (0.1, f32::INFINITY, -f32::INFINITY));
        assert!(f64_to_f32(f64::NAN).is_nan());
    }

    #[test]
    fn values_out_of_range_saturate() {
        assert_eq!(
            [f64_to_u64(2.9), f64_to_u64(-1.0), f64_to_u64(f64::NAN), f64_to_u64(f64::INFINITY)],
            [2, 0, 0, u64::MAX]
        );
        assert_eq!([f64_to_usize(2.9), f64_to_usize(-1.0), f64_to_usize(1e300)], [2, 0, usize::MAX]);
        assert_eq!([f64_to_i64(-2.9), f64_to_i64(f64::NAN), f64_to_i64(-1e300)], [-2, 0, i64::MIN]);
        assert_eq!([usize_to_u32(3), usize_to_u32(usize::MAX)], [3, u32::MAX]);
        assert_eq!([u64_to_u32(3), u64_to_u32(1 << 32)], [3, u32::MAX]);
        assert_eq!([i64_to_i32(-3), i64_to_i32(1 << 31), i64_to_i32(i64::MIN)], [-3, i32::MAX, i32::MIN]);
        assert_eq!((usize_to_u16(1 << 16), usize_to_u8(256)), (u16::MAX, u8::MAX));
        assert_eq!([u64_to_i64(3), u64_to_i64(u64::MAX)], [3, i64::MAX]);
        assert_eq!([i64_to_u64(3), i64_to_u64(-3)], [3, 0]);
        assert_eq!(u64_to_usize(3), 3);
        assert_eq!([1u8].get(u64_to_usize(u64::MAX)), None);
    }

    proptest! {
        #[test]
        fn a_number_becomes_the_nearest_that_fits(n in any::<u64>(), m in any::<i64>()) {
            let len = u64_to_usize(n);
            prop_assert_eq!(u64::from(u64_to_u32(n)), n.min(u64::from(u32::MAX)));
            prop_assert_eq!(usize_to_u32(len), u64_to_u32(len as u64));
            prop_assert_eq!(u64::from(usize_to_u16(len)), (len as u64).min(u64::from(u16::MAX)));
            prop_assert_eq!(u64::from(usize_to_u8(len)), (len as u64).min(u64::from(u8::MAX)));
            prop_assert_eq!(i128::from(u64_to_i64(n)), i128::from(n).min(i128::from(i64::MAX)));
            prop_assert_eq!(usize_to_i64(len), u64_to_i64(len as u64));
            prop_assert_eq!(i128::from(i64_to_u64(m)), i128::from(m).max(0));
            prop_assert_eq!(i64::from(i64_to_i32(m)), m.clamp(i32::MIN.into(), i32::MAX.into()));
        }

        #[test]
        fn low_bits_are_the_remainder(n in any::<u64>()) {
            prop_assert_eq!(u64::from(low8(n)), n % (1 << 8));
            prop_assert_eq!(u64::from(low16(n)), n % (1 << 16));
            prop_assert_eq!(u64::from(low32(n)), n % (1 << 32));
        }

        #[test]
        fn whole_parts_are_towards_zero_and_keep_their_order(x in -1e25f64..1e25, y in -1e25f64..1e25) {
            let (less, more) = if x <= y { (x, y) } else { (y, x) };
            prop_assert!(f64_to_u64(less) <= f64_to_u64(more) && f64_to_i64(less) <= f64_to_i64(more));
            if x.abs() < 2f64.powi(63) {
                prop_assert_eq!(i64_to_f64(f64_to_i64(x)), x.trunc());
                prop_assert_eq!(u64_to_f64(f64_to_u64(x)), x.trunc().max(0.0));
            }
        }

        #[test]
        fn whole_numbers_of_53_bits_come_back(n in -(1i64 << 53)..=1i64 << 53) {
            prop_assert_eq!(f64_to_i64(i64_to_f64(n)), n);
            prop_assert_eq!(f64_to_i64(i128_to_f64(i128::from(n))), n);
            prop_assert_eq!(f64_to_u64(u64_to_f64(n.unsigned_abs())), n.unsigned_abs());
        }

        #[test]
        fn the_nearest_single_is_never_further_than_its_neighbours(x in -1e30f64..1e30) {
            let near = f64_to_f32(x);
            let distance = |s: f32| (f64::from(s) - x).abs();
            prop_assert!(distance(near) <= distance(near.next_up()) && distance(near) <= distance(near.next_down()));
        }
    }
}
