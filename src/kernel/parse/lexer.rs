//! Source text to tokens. Comments and preprocessor lines are left out.

use crate::kernel::problem::{Diagnostic, Pos, Problem};

/// The longest source, bytes.
pub const MAX_SOURCE_BYTES: usize = 256 * 1024;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Word(String),
    /// An integer: value, `u`, `l`.
    Int(u64, bool, bool),
    /// A number with a point or an exponent, and whether it ends in `f`.
    Float(f64, bool),
    /// A text in quotes, or a character's code as an integer.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the source.
    End,
}

impl TokenKind {
    /// As an error names it.
    pub fn shown(&self) -> String {
        match self {
            Self::Word(w) => format!("'{w}'"),
            Self::Int(v, ..) => format!("'{v}'"),
            Self::Float(v, _) => format!("'{v}'"),
            Self::Text(_) => "a text".to_owned(),
            Self::Sign(s) => format!("'{s}'"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub pos: Pos,
}

/// Longest first, so that `<<=` is not read as `<` `<=`.
const SIGNS: [&str; 49] = [
    "<<=", ">>=", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=", "?", ":", ";", ",",
    ".", "(", ")", "[", "]", "{", "}", "#", "\\",
];

/// Splits a source.
///
/// # Errors
/// At the first character or number outside the language, or a comment without an end.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, Diagnostic> {
    if source.len() > MAX_SOURCE_BYTES {
        let problem = Problem::TooLong { bytes: source.len(), limit: MAX_SOURCE_BYTES };
        return Err(Diagnostic::new(Pos { line: 1, column: 1 }, problem));
    }
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    Lexer { rest: source, line: 1, column: 1, fresh_line: true }.run()
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
    /// Nothing but space since the line began: a `#` here is a preprocessor line.
    fresh_line: bool,
}

impl Lexer<'_> {
    fn run(mut self) -> Result<Vec<Token>, Diagnostic> {
        let mut out = Vec::new();
        loop {
            self.skip_space()?;
            let pos = self.pos();
            let Some(c) = self.rest.chars().next() else {
                out.push(Token { kind: TokenKind::End, pos });
                return Ok(out);
            };
            if c == '#' && self.fresh_line {
                self.preprocessor_line(pos)?;
                continue;
            }
            self.fresh_line = false;
            let kind = if c.is_ascii_alphabetic() || c == '_' {
                let len = self.length_of(|c| c.is_ascii_alphanumeric() || c == '_');
                TokenKind::Word(self.take(len))
            } else if c.is_ascii_digit() || (c == '.' && self.rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
                self.number(pos)?
            } else if c == '"' || c == '\'' {
                self.text(c, pos)?
            } else if let Some(sign) = SIGNS.iter().find(|s| self.rest.starts_with(**s)) {
                self.take(sign.len());
                TokenKind::Sign(sign)
            } else {
                return Err(Diagnostic::new(pos, Problem::Character { character: c }));
            };
            out.push(Token { kind, pos });
        }
    }

    const fn pos(&self) -> Pos {
        Pos { line: self.line, column: self.column }
    }

    fn length_of(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len())
    }

    /// Takes so many bytes, which end at a character's border.
    fn take(&mut self, len: usize) -> String {
        let (taken, rest) = self.rest.split_at(len);
        for c in taken.chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
                self.fresh_line = true;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken.to_owned()
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            let space = self.length_of(char::is_whitespace);
            if space > 0 {
                self.take(space);
            } else if self.rest.starts_with("//") {
                let len = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(len);
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest.find("*/") else {
                    let problem = Problem::Unclosed { what: "this comment", close: "*/" };
                    return Err(Diagnostic::new(self.pos(), problem));
                };
                self.take(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// `#include` and `#pragma` are tolerated: the headers of the interface are known.
    fn preprocessor_line(&mut self, pos: Pos) -> Result<(), Diagnostic> {
        let len = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self.take(len);
        let directive = line.trim_start_matches('#').trim_start();
        let word: String = directive.chars().take_while(char::is_ascii_alphabetic).collect();
        match word.as_str() {
            "include" | "pragma" => Ok(()),
            _ => Err(Diagnostic::new(
                pos,
                Problem::NotSupported {
                    what: format!("the preprocessor line #{word}"),
                    instead: "write 'static constexpr size_t NAME = ...;' for a constant".to_owned(),
                },
            )),
        }
    }

    fn number(&mut self, pos: Pos) -> Result<TokenKind, Diagnostic> {
        let hexadecimal = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        let mut len = 0;
        let mut before = ' ';
        for c in self.rest.chars() {
            let sign_of_exponent = (c == '+' || c == '-') && matches!(before, 'e' | 'E') && !hexadecimal;
            if !(c.is_ascii_alphanumeric() || c == '.' || c == '\'' || sign_of_exponent) {
                break;
            }
            len += 1;
            before = c;
        }
        let text = self.take(len);
        let clean = text.replace('\'', "").to_ascii_lowercase();
        let fail = |reason| Diagnostic::new(pos, Problem::Number { text: text.clone(), reason });
        if !hexadecimal && clean.contains(['.', 'e']) {
            let digits = clean.trim_end_matches('f');
            let value: f64 = digits.parse().map_err(|_| fail("write it as 1.5, 1e-3 or 1.5f"))?;
            return Ok(TokenKind::Float(value, clean.ends_with('f')));
        }
        let digits = clean.trim_end_matches(['u', 'l']);
        let suffix = &clean[digits.len()..];
        let (digits, radix) = match digits {
            d if d.starts_with("0x") => (&d[2..], 16),
            d if d.starts_with("0b") => (&d[2..], 2),
            d if d.len() > 1 && d.starts_with('0') => (&d[1..], 8),
            d => (d, 10),
        };
        let value = u64::from_str_radix(digits, radix)
            .map_err(|_| fail("an integer has digits, and u or l after them, and fits in 64 bits"))?;
        Ok(TokenKind::Int(value, suffix.contains('u'), suffix.contains('l')))
    }

    fn text(&mut self, quote: char, pos: Pos) -> Result<TokenKind, Diagnostic> {
        let close = if quote == '"' { "\"" } else { "'" };
        let fail = || Diagnostic::new(pos, Problem::Unclosed { what: "this text", close });
        let mut text = String::new();
        let mut len = 1;
        let mut chars = self.rest[1..].chars();
        loop {
            let c = chars.next().ok_or_else(fail)?;
            len += c.len_utf8();
            match c {
                '\n' => return Err(fail()),
                '\\' => {
                    let escaped = chars.next().ok_or_else(fail)?;
                    len += escaped.len_utf8();
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '0' => '\0',
                        other => other,
                    });
                }
                c if c == quote => break,
                c => text.push(c),
            }
        }
        self.take(len);
        if quote == '"' {
            return Ok(TokenKind::Text(text));
        }
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if c.is_ascii() => Ok(TokenKind::Int(u64::from(u32::from(c)), false, false)),
            _ => Err(Diagnostic::new(pos, Problem::Number { text, reason: "a character in quotes is one of ASCII" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<TokenKind> {
        tokens(source).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_keep_their_suffixes() {
        assert_eq!(kinds("10u")[0], TokenKind::Int(10, true, false));
        assert_eq!(kinds("0x1Ful")[0], TokenKind::Int(31, true, true));
        assert_eq!(kinds("1'000")[0], TokenKind::Int(1000, false, false));
        assert_eq!(kinds("1.5f")[0], TokenKind::Float(1.5, true));
        assert_eq!(kinds(".5e-1")[0], TokenKind::Float(0.05, false));
        assert_eq!(kinds("'a'")[0], TokenKind::Int(97, false, false));
        assert_eq!(tokens("12abc").unwrap_err().problem.code(), "syntax");
    }

    #[test]
    fn places_count_lines_and_characters() {
        let found = tokens("#include <torch/torch.h>\n/* \u{e9} */ a <<= b; // end\n").unwrap();
        let places: Vec<(u32, u32)> = found.iter().map(|t| (t.pos.line, t.pos.column)).collect();
        assert_eq!(places, [(2, 9), (2, 11), (2, 15), (2, 16), (3, 1)]);
    }

    #[test]
    fn what_is_outside_is_refused_at_its_place() {
        let bad = tokens("a\n @").unwrap_err();
        assert_eq!((bad.pos.line, bad.pos.column, bad.problem.code()), (2, 2, "syntax"));
        assert_eq!(tokens("/* x").unwrap_err().pos, Pos { line: 1, column: 1 });
        assert_eq!(tokens("#define N 4").unwrap_err().problem.code(), "not_supported");
        assert_eq!(tokens(&"x".repeat(MAX_SOURCE_BYTES + 1)).unwrap_err().problem.code(), "too_long");
        assert!(tokens("\"abc").is_err());
    }
}
