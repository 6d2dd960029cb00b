//! Numbers and truths as Python writes them.

use std::borrow::Cow;

/// A number without the underscores that Python allows between digits: `10_000` is `10000`. Other texts stay as they are.
pub fn without_underscores(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_between = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    let is_number = bytes.iter().all(|b| b.is_ascii_digit() || b"_.+-eE".contains(b));
    if !is_number || !bytes.contains(&b'_') || !(0..bytes.len()).all(|at| bytes[at] != b'_' || is_between(at)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('_', ""))
}

/// A truth as Python or a shell writes it: `True`, `true`, `1`, `yes`, `on`, or `False`, `false`, `0`, `no`, `off`.
pub fn truth_of(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_are_dropped_where_python_allows_them() {
        for (text, plain) in [("10_000", "10000"), ("1_0.5", "10.5"), ("-1_000", "-1000"), ("7", "7")] {
            assert_eq!(without_underscores(text), plain);
        }
        for other in ["_1", "1_", "1__0", "a_b", "nn_1", "1_.5"] {
            assert_eq!(without_underscores(other), other);
        }
    }
}
