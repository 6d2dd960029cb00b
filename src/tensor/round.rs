//! Rounding of single precision to the narrower element types, to nearest with ties to even.

use half::f16;

use super::DType;

/// The nearest bfloat16, ties to even. Values beyond the largest finite one become infinite, NaN stays NaN.
pub fn round_bf16(v: f32) -> f32 {
    if v.is_nan() {
        return f32::NAN;
    }
    let bits = v.to_bits();
    // Adding just under half of the last kept bit, plus that bit, carries exactly when rounding up is right.
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    f32::from_bits(rounded & 0xffff_0000)
}

/// The nearest half-precision number, ties to even. Values beyond the largest finite one become infinite.
pub fn round_f16(v: f32) -> f32 {
    if v.is_nan() { f32::NAN } else { f16::from_f32(v).to_f32() }
}

/// The whole part as a 32-bit signed integer holds it: 0 for NaN, the least or the greatest integer for a value out of range.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the rule of the element type")]
fn whole_32(v: f32) -> f32 {
    (v as i32) as f32
}

/// The value that an element type stores. Integers are truncated toward zero and saturate (exact up to 2^24, since
/// values are stored as `f32`); booleans are 0 or 1.
pub fn round_to(dtype: DType, v: f32) -> f32 {
    match dtype {
        DType::F32 => v,
        DType::Bf16 => round_bf16(v),
        DType::F16 => round_f16(v),
        DType::S32 => whole_32(v),
        DType::Pred => f32::from(u8::from(v != 0.0)),
    }
}

/// [`round_to`] for every value of a slice.
pub fn round_slice(dtype: DType, values: &mut [f32]) {
    if dtype != DType::F32 {
        for v in values {
            *v = round_to(dtype, *v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_even() {
        // 1 + 2^-8 lies half-way between 1 and 1 + 2^-7; 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6.
        assert_eq!(round_bf16(1.0 + 1.0 / 256.0), 1.0);
        assert_eq!(round_bf16(1.0 + 3.0 / 256.0), 1.0 + 2.0 / 128.0);
        assert_eq!(round_bf16(f32::MAX), f32::INFINITY);
        assert_eq!(round_bf16(-0.0).to_bits(), (-0.0f32).to_bits());
        assert!(round_bf16(f32::from_bits(0x7f80_0001)).is_nan());
    }

    #[test]
    fn adding_a_half_to_1024_in_fp16_never_moves() {
        // Published test vector of Neuron's rounding modes: 2048 additions of 0.5 leave 1024 under round to nearest even.
        let mut x = 1024.0f32;
        for _ in 0..2048 {
            x = round_f16(x + 0.5);
        }
        assert_eq!(x, 1024.0);
    }

    #[test]
    fn integers_truncate_and_saturate() {
        assert_eq!(round_to(DType::S32, -2.9), -2.0);
        assert_eq!(round_to(DType::S32, 1e20), 2_147_483_648.0);
        assert_eq!(round_to(DType::Pred, -3.0), 1.0);
    }

    proptest! {
        #[test]
        fn bf16_agrees_with_the_half_crate(bits in any::<u32>()) {
            let v = f32::from_bits(bits);
            let (ours, theirs) = (round_bf16(v), bf16::from_f32(v).to_f32());
            prop_assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()));
        }
    }
}
