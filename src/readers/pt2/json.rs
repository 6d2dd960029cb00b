//! JSON as Python writes it: infinities and NaN are not quoted, which is not valid JSON.

/// The text with bare `Infinity`, `-Infinity` and `NaN` quoted; `None` if it does not have any.
pub fn quoted_numbers(text: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut out = Vec::new();
    let (mut at, mut copied, mut is_in_string) = (0, 0, false);
    while at < text.len() {
        match text[at] {
            b'"' => is_in_string = !is_in_string,
            b'\\' if is_in_string => at += 1,
            _ if is_in_string => {}
            _ => {
                if let Some(word) = WORDS.iter().find(|w| text[at..].starts_with(w)) {
                    out.extend_from_slice(&text[copied..at]);
                    out.push(b'"');
                    out.extend_from_slice(word);
                    out.push(b'"');
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
        }
        at += 1;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&text[copied..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::quoted_numbers;

    #[test]
    fn bare_infinities_are_quoted_and_texts_stay() {
        let text = br#"{"a": -Infinity, "b": [NaN, Infinity], "c": "Infinity \" NaN"}"#;
        let want = br#"{"a": "-Infinity", "b": ["NaN", "Infinity"], "c": "Infinity \" NaN"}"#;
        assert_eq!(quoted_numbers(text).unwrap(), want);
        assert_eq!(quoted_numbers(br#"{"a": "NaN"}"#), None);
    }
}
