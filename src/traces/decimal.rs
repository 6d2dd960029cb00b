//! Times as decimal text, to integer nanoseconds without passing through a float.
//!
//! A time since 1970 in microseconds has 16 digits before the point; an f64 has a spacing of 0.25 us there, which is
//! enough to make neighbouring slices overlap.

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeError {
    /// Not a decimal number.
    NotANumber,
    /// Further from zero than [`i64`] nanoseconds can hold with room for differences (146 years).
    OutOfRange,
}

/// Digits beyond this number cannot change a nanosecond in range, except at a tie.
const MAX_DIGITS: u32 = 36;

/// The unit of a time that is written as a number: its nanoseconds as a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns = 0,
    /// Microseconds.
    Us = 3,
    /// Milliseconds.
    Ms = 6,
    /// Seconds.
    S = 9,
}

/// Decimal microseconds (`12`, `-3.25`, `1.5e3`) to nanoseconds; fractions round to nearest, ties to even. Fails when the text is
/// not a decimal number, or out of range.
pub fn us_text_to_ns(text: &[u8]) -> Result<i64, TimeError> {
    let (negative, digits) = split_sign(text);
    match plain(digits).and_then(|ns| i64::try_from(ns).ok()) {
        Some(ns) => Ok(if negative { -ns } else { ns }),
        None => text_to_ns(text, TimeUnit::Us),
    }
}

/// A decimal number of any unit to nanoseconds; fractions round to nearest, ties to even. Fails when the text is not a decimal
/// number, or beyond 146 years.
pub fn text_to_ns(text: &[u8], unit: TimeUnit) -> Result<i64, TimeError> {
    let (negative, digits) = split_sign(text);
    let magnitude = general(digits, unit as i64)?;
    let ns = i64::try_from(magnitude).ok().filter(|&ns| ns <= i64::MAX / 2).ok_or(TimeError::OutOfRange)?;
    Ok(if negative { -ns } else { ns })
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// The common case: up to 15 digits, a point, up to 3 digits.
fn plain(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    let mut i = 0;
    while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value * 10 + u64::from(digit);
        i += 1;
    }
    if i == 0 || i > 15 {
        return None;
    }
    let fraction = match text.get(i) {
        None => &[][..],
        Some(b'.') => &text[i + 1..],
        Some(_) => return None,
    };
    if fraction.len() > 3 || (fraction.is_empty() && i < text.len()) {
        return None;
    }
    for k in 0..3 {
        let digit = fraction.get(k).map_or(0, |b| b.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// `scale`: the power of ten of the unit.
fn general(text: &[u8], mut scale: i64) -> Result<u128, TimeError> {
    let mut value = 0u128;
    let (mut digits, mut seen) = (0u32, false);
    let (mut point, mut lost) = (false, false);
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                seen = true;
                if digits < MAX_DIGITS {
                    value = value * 10 + u128::from(byte - b'0');
                    digits += u32::from(value > 0);
                    scale -= i64::from(point);
                } else {
                    lost |= *byte != b'0';
                    scale += i64::from(!point);
                }
            }
            b'.' if !point => point = true,
            b'e' | b'E' if seen => {
                scale = scale.saturating_add(exponent(tail)?);
                break;
            }
            _ => return Err(TimeError::NotANumber),
        }
        rest = tail;
    }
    if !seen {
        return Err(TimeError::NotANumber);
    }
    apply_scale(value, scale, lost)
}

fn exponent(text: &[u8]) -> Result<i64, TimeError> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(TimeError::NotANumber);
    }
    let value = digits.iter().fold(0i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    Ok(sign * value.min(1_000_000))
}

fn apply_scale(value: u128, scale: i64, lost: bool) -> Result<u128, TimeError> {
    if value == 0 {
        return Ok(0);
    }
    if scale >= 0 {
        let factor = u32::try_from(scale).ok().and_then(|s| 10u128.checked_pow(s)).ok_or(TimeError::OutOfRange)?;
        return value.checked_mul(factor).ok_or(TimeError::OutOfRange);
    }
    let Some(divisor) = u32::try_from(-scale).ok().and_then(|s| 10u128.checked_pow(s)) else { return Ok(0) };
    let (whole, rest) = (value / divisor, value % divisor);
    let twice = rest.saturating_mul(2);
    let up = twice > divisor || (twice == divisor && (lost || whole % 2 == 1));
    Ok(whole + u128::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Result<i64, TimeError> {
        us_text_to_ns(text.as_bytes())
    }

    #[test]
    fn decimal_text_is_exact() {
        let cases = [
            ("0", 0),
            ("12", 12_000),
            ("-3.25", -3_250),
            ("1712195495406752.797", 1_712_195_495_406_752_797),
            ("1.5e3", 1_500_000),
            ("1E-3", 1),
            ("15e-4", 2),
            ("25e-4", 2),
            ("0.0005", 0),
            ("0.0015", 2),
            ("0.00050000000000000000000000000000000000000001", 1),
            ("38.999999996", 39_000),
            ("1.", 1_000),
            (".5", 500),
            ("00012.5", 12_500),
            ("1e-900", 0),
            ("0e900", 0),
            ("1234567890123456.1234567", 1_234_567_890_123_456_123),
        ];
        for (text, want) in cases {
            assert_eq!(ns(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_named() {
        for text in ["", "-", ".", "e5", "NaN", "0x10", "1e", "1e+", "1 2", "1.2.3", "--1"] {
            assert_eq!(ns(text), Err(TimeError::NotANumber), "{text}");
        }
        for text in ["1e30", "9223372036854775807", "99999999999999999999999999999999999999999999", "1e999999999999"] {
            assert_eq!(ns(text), Err(TimeError::OutOfRange), "{text}");
        }
        assert_eq!(ns("4611686018427387.903"), Ok(i64::MAX / 2));
    }

    proptest::proptest! {
        #[test]
        fn writing_and_reading_a_time_is_the_identity(value in -(i64::MAX / 2)..i64::MAX / 2) {
            let text = format!("{}{}.{:03}", if value < 0 { "-" } else { "" }, value.abs() / 1000, value.abs() % 1000);
            proptest::prop_assert_eq!(ns(&text), Ok(value));
        }
    }
}
