//! Small helpers for writing SVG text.

/// A coordinate with at most two decimals, the same text on every target.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// Text made safe for content and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Control characters are not allowed in XML at all.
            c if c < ' ' && !matches!(c, '\t' | '\n' | '\r') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_can_not_become_markup() {
        assert_eq!(escape("<b a=\"1\">&\u{1}"), "&lt;b a=&quot;1&quot;&gt;&amp;\u{fffd}");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!((number(1.0), number(-0.001), number(2.345)), ("1".into(), "0".into(), "2.35".into()));
    }
}
