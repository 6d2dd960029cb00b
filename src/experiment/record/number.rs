//! Numbers in a line: read exactly, with Python's words for NaN and the infinities, which JSON lacks.

use super::error::{LineError, shortened};
use ns_bench::QUOTED_NAN;

/// A number in a line; `None` when the text is something else. Python's words are quoted by
/// [`ns_bench::quoted_nan`].
///
/// serde_json's own reader may miss the nearest double by one unit in the last place, which a report would show.
#[must_use]
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

/// The numbers of a JSON array.
///
/// # Errors
/// When the text is not an array, or holds other values.
pub fn numbers(field: &'static str, text: &str) -> Result<Vec<f64>, LineError> {
    let wrong = || LineError::NotNumeric { field, expected: "a list of numbers", found: shortened(text) };
    let inner = text.trim().strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(wrong)?.trim();
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    inner.split(',').map(|item| python_number(item).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        assert_eq!(numbers("x", "[15.150130984999123,1 , -2e-3]"), Ok(vec![15.150130984999123, 1.0, -2e-3]));
        assert_eq!(numbers("x", " [ ] "), Ok(vec![]));
        let text = ns_bench::quoted_nan("[NaN, -Infinity]").into_owned();
        let found = numbers("x", &text).unwrap();
        assert!(found[0].is_nan() && found[1] == f64::NEG_INFINITY);
        for bad in ["null", "[null]", "[[1]]", "3", "[\"NaN\"]", "[true]"] {
            assert!(numbers("total_time", bad).is_err(), "{bad}");
        }
    }
}
