//! Texts and characters in quotes.

use super::lexer::{Lexer, TokenKind};
use crate::problem::{Diagnostic, Pos, Problem};

impl Lexer<'_> {
    /// A text, or the code of a character. Fails when it does not end on its line, or is not one character of ASCII.
    pub(super) fn text(&mut self, quote: char, pos: Pos) -> Result<TokenKind, Diagnostic> {
        let close = if quote == '"' { "\"" } else { "'" };
        let fail =
            || Diagnostic::new(pos, Problem::error("syntax", format!("this text does not end; close it with {close}")));
        let mut text = String::new();
        let mut rest = &self.rest[1..];
        loop {
            let c = rest.chars().next().ok_or_else(fail)?;
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => return Err(fail()),
                '\\' => {
                    let (escaped, after) = escape(rest).ok_or_else(fail)?;
                    text.push(escaped);
                    rest = after;
                }
                c if c == quote => break,
                c => text.push(c),
            }
        }
        self.take(self.rest.len() - rest.len());
        if quote == '"' {
            return Ok(TokenKind::Text(text));
        }
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if c.is_ascii() => Ok(TokenKind::Int(u64::from(u32::from(c)), false, false)),
            _ => {
                let text = format!("'{text}' is not a number of the language: a character in quotes is one of ASCII");
                Err(Diagnostic::new(pos, Problem::error("syntax", text)))
            }
        }
    }
}

/// The character after a backslash, and the rest.
fn escape(text: &str) -> Option<(char, &str)> {
    let c = text.chars().next()?;
    let after = &text[c.len_utf8()..];
    let code = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let count = |text: &str, radix, most| text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    Some(match c {
        'n' => ('\n', after),
        't' => ('\t', after),
        'r' => ('\r', after),
        'a' => ('\x07', after),
        'b' => ('\x08', after),
        'f' => ('\x0c', after),
        'v' => ('\x0b', after),
        'x' => {
            let len = count(after, 16, 2);
            (code(&after[..len], 16)?, &after[len..])
        }
        '0'..='7' => {
            let len = count(text, 8, 3);
            (code(&text[..len], 8)?, &text[len..])
        }
        other => (other, after),
    })
}

#[cfg(test)]
mod tests {
    use super::super::lexer::{TokenKind, tokens};

    #[test]
    fn escapes_are_those_of_cpp() {
        for (text, code) in
            [("'a'", 97), ("'\\n'", 10), ("'\\0'", 0), ("'\\x41'", 65), ("'\\101'", 65), ("'\\''", 39), ("'\\\\'", 92)]
        {
            assert_eq!(tokens(text).unwrap()[0].kind, TokenKind::Int(code, false, false), "{text}");
        }
        for bad in ["'ab'", "''", "'\u{e9}'", "'a", "\"a\n\"", "'\\x'"] {
            assert_eq!(tokens(bad).unwrap_err().problem.code(), "syntax", "{bad}");
        }
    }
}
