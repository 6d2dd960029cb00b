//! The words of a query.

/// A token with the position of its first byte.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub at: usize,
    pub kind: Kind,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A bare word: a keyword, a field, a text without quotes.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// A number; durations are in nanoseconds.
    Number(f64),
    /// `= != < <= > >= , ( )`
    Sign(&'static str),
}

const SIGNS: [&str; 9] = ["!=", "<=", ">=", "=", "<", ">", ",", "(", ")"];
/// Units of time, in nanoseconds.
const UNITS: [(&str, f64); 6] =
    [("ns", 1.0), ("us", 1e3), ("\u{b5}s", 1e3), ("\u{3bc}s", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Cuts a query into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok(out) };
        let (kind, length) = if first == '"' || first == '\'' {
            quoted(rest, first).ok_or_else(|| format!("the quote at character {} is not closed", at + 1))?
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            (Kind::Sign(sign), sign.len())
        } else {
            word(rest)
        };
        out.push(Token { at, kind });
        rest = &rest[length..];
    }
}

fn quoted(rest: &str, quote: char) -> Option<(Kind, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => text.push(chars.next()?.1),
            c if c == quote => return Some((Kind::Text(text), i + 1)),
            c => text.push(c),
        }
    }
    None
}

fn word(rest: &str) -> (Kind, usize) {
    let is_end = |c: char| c.is_whitespace() || "=<>!,()\"'".contains(c);
    let mut end = rest.find(is_end).unwrap_or(rest.len());
    if end == 0 {
        end = rest.chars().next().map_or(0, char::len_utf8);
    }
    let word = &rest[..end];
    (number(word).map_or_else(|| Kind::Word(word.to_owned()), Kind::Number), end)
}

/// `12`, `1.5ms`, `1_000`.
fn number(word: &str) -> Option<f64> {
    let digits = word.find(|c: char| !(c.is_ascii_digit() || ".-_".contains(c))).unwrap_or(word.len());
    let (value, unit) = word.split_at(digits);
    let value: f64 = value.replace('_', "").parse().ok()?;
    if unit.is_empty() {
        return Some(value);
    }
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ns)| value * ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_with_units_signs_and_quotes() {
        let kinds: Vec<Kind> =
            tokens(r#"dur>=1.5ms, arg.x != "a \"b\"" 1_000"#).unwrap().into_iter().map(|t| t.kind).collect();
        let word = |w: &str| Kind::Word(w.into());
        let expected = [
            word("dur"),
            Kind::Sign(">="),
            Kind::Number(1.5e6),
            Kind::Sign(","),
            word("arg.x"),
            Kind::Sign("!="),
            Kind::Text("a \"b\"".into()),
            Kind::Number(1_000.0),
        ];
        assert_eq!(kinds, expected);
        assert!(tokens("name = 'open").unwrap_err().contains("character 8"));
        assert_eq!(tokens("aten::mm 3x !").unwrap().len(), 3);
    }
}
