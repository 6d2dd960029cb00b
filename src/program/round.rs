//! Rounds numbers to what their element types can hold.

use super::ElementType;
use super::bytes::Top;
use ns_base::convert::{self, f64_to_f32, f64_to_i64, i64_to_f64};

/// A floating point number rounded to its type, to nearest with halves to even.
pub fn real(element: ElementType, value: f64) -> f64 {
    match element {
        ElementType::F64 => value,
        ElementType::F32 | ElementType::C64 => f64::from(f64_to_f32(value)),
        ElementType::F16 => to_small(value, 5, 10, Top::Ieee, false),
        ElementType::Bf16 => to_small(value, 8, 7, Top::Ieee, false),
        ElementType::F8E5M2 => to_small(value, 5, 2, Top::Ieee, false),
        ElementType::F8E4M3 => to_small(value, 4, 3, Top::Ieee, false),
        ElementType::F8E4M3Fn => to_small(value, 4, 3, Top::OneNan, false),
        ElementType::F8E5M2Fnuz => to_small(value, 5, 2, Top::Numbers, false),
        ElementType::F8E4M3Fnuz => to_small(value, 4, 3, Top::Numbers, false),
        _ => value,
    }
}

/// A number rounded to these bits of exponent and mantissa.
pub(crate) fn to_small(value: f64, exponent_bits: u32, mantissa_bits: u32, top: Top, flushes: bool) -> f64 {
    if value == 0.0 || value.is_nan() {
        return if top == Top::Numbers { value + 0.0 } else { value };
    }
    let bias = top.bias(exponent_bits);
    let ulp = power_of_two(-i32::try_from(mantissa_bits).unwrap_or(0));
    let largest = match top {
        Top::Ieee => (2.0 - ulp) * power_of_two(bias),
        // All ones except the last bit of the mantissa.
        Top::OneNan => (2.0 - 2.0 * ulp) * power_of_two(bias + 1),
        Top::Numbers => (2.0 - ulp) * power_of_two(bias - 1),
    };
    let beyond = if top == Top::Ieee { libm::copysign(f64::INFINITY, value) } else { f64::NAN };
    if value.is_infinite() {
        return beyond;
    }
    let exponent = libm::ilogb(value).max(1 - bias);
    let step = power_of_two(exponent - i32::try_from(mantissa_bits).unwrap_or(0));
    let rounded = libm::rint(value / step) * step;
    if flushes && libm::fabs(rounded) < power_of_two(1 - bias) {
        return libm::copysign(0.0, value);
    }
    if libm::fabs(rounded) > largest {
        return beyond;
    }
    if top == Top::Numbers { rounded + 0.0 } else { rounded }
}

fn power_of_two(exponent: i32) -> f64 {
    libm::scalbn(1.0, exponent)
}

/// An integer wrapped to its type.
pub fn whole(element: ElementType, value: i64) -> i64 {
    match element {
        ElementType::Pred => i64::from(value != 0),
        ElementType::S64 | ElementType::U64 => value,
        _ => {
            let shift = 64 - u32::try_from(element.bits()).unwrap_or(64);
            let wrapped = value << shift;
            if element.is_signed_integer() {
                wrapped >> shift
            } else {
                (wrapped.cast_unsigned() >> shift).cast_signed()
            }
        }
    }
}

/// An integer from a file, wrapped to its type; `None` if the type has too few bits. Numbers of a signed type may be written as
/// unsigned, as their bits.
pub fn fitting(element: ElementType, value: i128) -> Option<i64> {
    let bits = element.bits().min(64);
    let least = if element.is_signed_integer() { -(1i128 << (bits - 1)) } else { 0 };
    if !(least..1i128 << bits).contains(&value) {
        return None;
    }
    let number = i64::try_from(value).or_else(|_| u64::try_from(value).map(u64::cast_signed)).ok()?;
    Some(whole(element, number))
}

/// A floating point number as an integer: rounded towards zero; a number that is too large becomes the end of the range, NaN becomes zero.
pub fn truncated(element: ElementType, value: f64) -> i64 {
    if element == ElementType::U64 {
        return convert::f64_to_u64(value).cast_signed();
    }
    if element == ElementType::Pred {
        return i64::from(value != 0.0);
    }
    let bits = u32::try_from(element.bits()).unwrap_or(64);
    if element.is_signed_integer() {
        let largest = i64::MAX >> (64 - bits);
        f64_to_i64(value).clamp(-largest - 1, largest)
    } else {
        convert::f64_to_u64(value).min(u64::MAX >> (64 - bits)).cast_signed()
    }
}

/// An integer as a floating point number.
pub fn as_real(element: ElementType, value: i64) -> f64 {
    if element == ElementType::U64 { convert::u64_to_f64(value.cast_unsigned()) } else { i64_to_f64(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_round_to_nearest_even() {
        assert_eq!(real(ElementType::Bf16, 1.00390625), 1.0); // halfway: round to even
        assert_eq!(real(ElementType::Bf16, 1.01171875), 1.015625);
        assert_eq!(real(ElementType::F16, 65519.0), 65504.0);
        assert_eq!(real(ElementType::F16, 65520.0), f64::INFINITY);
        assert_eq!(real(ElementType::F16, 2f64.powi(-24) * 0.75), 2f64.powi(-24)); // the smallest number
        assert_eq!(real(ElementType::F8E4M3Fn, 448.0), 448.0);
        assert!(real(ElementType::F8E4M3Fn, 480.0).is_nan());
        assert_eq!(real(ElementType::F8E4M3, 240.0), 240.0);
        assert_eq!(real(ElementType::F8E5M2, 57344.0), 57344.0);
        // Every pattern is its own number, and a quarter of the least number is plus zero.
        for element in ElementType::ALL.into_iter().filter(|e| e.largest_float8().is_some()) {
            let numbers = (0..=255).map(|bits| element.real_of_bits(bits)).filter(|x| x.is_finite());
            let numbers: Vec<f64> = numbers.collect();
            assert!(numbers.iter().all(|&x| real(element, x).to_bits() == x.to_bits()), "{element}");
            assert_eq!(numbers.iter().copied().fold(0.0, f64::max), element.largest_float8().unwrap(), "{element}");
        }
        assert_eq!(real(ElementType::F8E4M3Fnuz, -1e-9).to_bits(), 0);
        assert!([f64::INFINITY, 256.0].iter().all(|&x| real(ElementType::F8E4M3Fnuz, x).is_nan()));
        assert!(real(ElementType::F8E5M2Fnuz, 65_536.0).is_nan());
        for x in [0.1, 3.3e38, -1e-40, 65504.0] {
            assert_eq!(to_small(x, 8, 23, Top::Ieee, false), f64::from(x as f32), "{x}");
            assert_eq!(real(ElementType::F16, x), half::f16::from_f64(x).to_f64(), "{x}");
            assert_eq!(real(ElementType::Bf16, x), half::bf16::from_f64(x).to_f64(), "{x}");
        }
    }

    #[test]
    fn whole_numbers_of_files_fit_their_type_or_are_refused() {
        assert_eq!([fitting(ElementType::S8, -128), fitting(ElementType::S8, 255)], [Some(-128), Some(-1)]);
        assert_eq!([fitting(ElementType::S8, -129), fitting(ElementType::S8, 256)], [None, None]);
        assert_eq!(
            [fitting(ElementType::U4, 15), fitting(ElementType::U4, 16), fitting(ElementType::U8, -1)],
            [Some(15), None, None]
        );
        let bits = |element| fitting(element, i128::from(u64::MAX));
        assert_eq!(
            [bits(ElementType::U64), bits(ElementType::S64), bits(ElementType::S32)],
            [Some(-1), Some(-1), None]
        );
        assert_eq!(fitting(ElementType::U64, i128::from(u64::MAX) + 1), None);
        assert_eq!([fitting(ElementType::Pred, 1), fitting(ElementType::Pred, 256)], [Some(1), None]);
    }

    #[test]
    fn whole_numbers_wrap() {
        assert_eq!(whole(ElementType::S8, 200), -56);
        assert_eq!(whole(ElementType::U8, -1), 255);
        assert_eq!(whole(ElementType::S4, 9), -7);
        assert_eq!(truncated(ElementType::S8, 1e9), 127);
        assert_eq!(truncated(ElementType::U8, -3.5), 0);
        assert_eq!(truncated(ElementType::S32, f64::NAN), 0);
        assert_eq!(as_real(ElementType::U64, -1), u64::MAX as f64);
    }
}
