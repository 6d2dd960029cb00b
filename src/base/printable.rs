//! Text of files as a terminal may show it.

use std::borrow::Cow;

/// A text in which characters that act on a terminal, or change the direction of what follows, are escaped: `\\u{1b}`.
/// Line ends stay if `keeps_lines`.
pub fn printable(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let acts = |c: char| {
        let turns =
            matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
        (c.is_control() && !(keeps_lines && c == '\n')) || turns || matches!(c, '\u{2028}' | '\u{2029}')
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if acts(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// A text, or its first letters and an ellipsis where it has more than `most`.
pub fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_in_an_ellipsis() {
        assert_eq!([beginning("naïve", 3), beginning("naïve", 5), beginning("", 0)], ["naï…", "naïve", ""]);
    }

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(printable("a\u{1b}[2J\r\nb\u{202e}", false), r"a\u{1b}[2J\r\nb\u{202e}");
        assert_eq!(printable("a\nb\tc", true), "a\nb\\tc");
        assert!(matches!(printable("naïve µs…", false), Cow::Borrowed(_)));
    }
}
