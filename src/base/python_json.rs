//! JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` as values, which JSON forbids.

use std::borrow::Cow;

/// The same text with each of these words outside strings replaced by `null`; borrowed if there is nothing to replace.
pub fn without_nan(text: &str) -> Cow<'_, str> {
    with_words(text, |_| "null")
}

/// Prefix that [`quoted_nan`] gives a word: no text in a file begins with it by accident.
pub const QUOTED_NAN: &str = "\"\\u0000";

/// The same text with a string for each of these words, made of a zero character and the word; strings untouched.
pub fn quoted_nan(text: &str) -> Cow<'_, str> {
    with_words(text, |word| match word {
        "NaN" => r#""\u0000NaN""#,
        "Infinity" => r#""\u0000Infinity""#,
        _ => r#""\u0000-Infinity""#,
    })
}

fn with_words(text: &str, put: impl Fn(&str) -> &'static str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at, mut in_string) = (String::new(), 0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'-' | b'I' | b'N' if !in_string => {
                if let Some(word) = WORDS.iter().find(|w| bytes[at..].starts_with(w.as_bytes())) {
                    out.push_str(&text[copied..at]);
                    out.push_str(put(word));
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_replaced_and_strings_are_not() {
        let text = r#"{"a": NaN, "NaN": [-Infinity, Infinity, -1], "b": "NaN \" NaN é"}"#;
        assert_eq!(without_nan(text), r#"{"a": null, "NaN": [null, null, -1], "b": "NaN \" NaN é"}"#);
        assert!(matches!(without_nan(r#"["NaN"]"#), Cow::Borrowed(_)));
        assert_eq!(without_nan("\"open \\"), "\"open \\");
    }
}
