//! Numbers in a line: read exactly, with Python's words for NaN and the infinities, which JSON lacks.

use super::error::shortened;
use ns_base::QUOTED_NAN;
use ns_base::{Refusal, refuse};

/// A number in a line; `None` when the text is something else. Python's words are quoted by
/// [`ns_base::quoted_nan`].
///
/// serde_json's own reader may miss the nearest double by one unit in the last place, which a report would show.
pub fn python_number(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.as_bytes().first()? {
        b'-' | b'0'..=b'9' => text.parse().ok(),
        b'"' => match text.strip_prefix(QUOTED_NAN)? {
            "NaN\"" => Some(f64::NAN),
            "Infinity\"" => Some(f64::INFINITY),
            "-Infinity\"" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// The numbers of a JSON array. Fails when the text is not an array, or holds other values.
pub fn numbers(field: &str, text: &str) -> Result<Vec<f64>, Refusal> {
    let wrong = || refuse!("{field} must be a list of numbers; found {}", shortened(text));
    let inner = text.trim().strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(wrong)?.trim();
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    inner.split(',').map(|item| python_number(item).ok_or_else(wrong)).collect()
}

/// The `timestamp` of a line: seconds. Fails when the text is not a finite number.
pub fn timestamp(text: &str) -> Result<f64, Refusal> {
    let seconds = python_number(text).filter(|t| t.is_finite());
    seconds.ok_or_else(|| refuse!("timestamp must be a finite number of seconds; found {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        assert_eq!(numbers("x", "[15.150130984999123,1 , -2e-3]"), Ok(vec![15.150130984999123, 1.0, -2e-3]));
        assert_eq!(numbers("x", " [ ] "), Ok(vec![]));
        let text = ns_base::quoted_nan("[NaN, -Infinity]").into_owned();
        let found = numbers("x", &text).unwrap();
        assert!(found[0].is_nan() && found[1] == f64::NEG_INFINITY);
        for bad in ["null", "[null]", "[[1]]", "3", "[\"NaN\"]", "[true]"] {
            assert!(numbers("total_time", bad).is_err(), "{bad}");
        }
    }
}
