//! Source text to tokens. Comments and preprocessor lines are left out.

use crate::problem::{Diagnostic, Pos, Problem};

/// The longest source, bytes.
pub const MAX_SOURCE_BYTES: usize = 256 * 1024;

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
    /// The token in an error message.
    pub fn in_words(&self) -> String {
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

/// A token with its position.
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

/// Splits a source. Fails at the first character or number outside the language, or a comment that is not closed.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, Diagnostic> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Diagnostic::new(Pos { line: 1, column: 1 }, too_long(source.len())));
    }
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    Lexer { rest: source, line: 1, column: 1, fresh_line: true, constants: Vec::new() }.run()
}

fn too_long(bytes: usize) -> Problem {
    Problem::error("too_long", format!("the source has {bytes} bytes; a kernel may have {MAX_SOURCE_BYTES}"))
}

pub(super) struct Lexer<'a> {
    pub rest: &'a str,
    pub line: u32,
    pub column: u32,
    /// Whether there was only white space since the start of the line: a `#` here starts a preprocessor line.
    pub fresh_line: bool,
    /// The tokens that `#define` gives to a name.
    pub constants: Vec<(String, Vec<TokenKind>)>,
}

impl Lexer<'_> {
    pub(super) fn run(&mut self) -> Result<Vec<Token>, Diagnostic> {
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
                let word = self.take(len);
                if let Some((_, defined)) = self.constants.iter().rfind(|c| c.0 == word) {
                    out.extend(defined.iter().map(|kind| Token { kind: kind.clone(), pos }));
                    // A constant made of constants can double in length with every line.
                    if out.len() > MAX_SOURCE_BYTES {
                        return Err(Diagnostic::new(pos, too_long(out.len())));
                    }
                    continue;
                }
                sign_of(&word).map_or(TokenKind::Word(word), TokenKind::Sign)
            } else if c.is_ascii_digit() || (c == '.' && self.rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
                self.number(pos)?
            } else if c == '"' || c == '\'' {
                self.text(c, pos)?
            } else if let Some(sign) = SIGNS.iter().find(|s| self.rest.starts_with(**s)) {
                self.take(sign.len());
                TokenKind::Sign(sign)
            } else {
                let text = format!("'{c}' is not a character of the kernel language; remove it");
                return Err(Diagnostic::new(pos, Problem::error("syntax", text)));
            };
            out.push(Token { kind, pos });
        }
    }

    pub(super) const fn pos(&self) -> Pos {
        Pos { line: self.line, column: self.column }
    }

    fn length_of(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len())
    }

    /// Takes `len` bytes, which end at a character boundary.
    pub(super) fn take(&mut self, len: usize) -> String {
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
            } else if let Some(len) = continuation(self.rest) {
                self.take(len);
                self.fresh_line = false;
            } else if self.rest.starts_with("//") {
                let len = line_length(self.rest);
                self.take(len);
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest.find("*/") else {
                    let problem = Problem::error("syntax", "this comment does not end; close it with */");
                    return Err(Diagnostic::new(self.pos(), problem));
                };
                self.take(end + 2);
            } else {
                return Ok(());
            }
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
        let fail = |reason: &str| {
            Diagnostic::new(
                pos,
                Problem::error("syntax", format!("'{text}' is not a number of the language: {reason}")),
            )
        };
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
}

/// The length of a backslash at the end of a line, including the line end.
fn continuation(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\\')?;
    let end = after.strip_prefix('\r').unwrap_or(after);
    end.starts_with('\n').then(|| text.len() - end.len() + 1)
}

/// The length of a line with its continuation lines, without the last line end.
pub(super) fn line_length(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        let Some(end) = rest.find(['\n', '\\']) else { return text.len() };
        match continuation(&rest[end..]) {
            Some(more) => len += end + more,
            None if rest[end..].starts_with('\n') => return len + end,
            None => len += end + 1,
        }
    }
}

/// The operators that can also be written as a word.
fn sign_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "bitand" => "&",
        "bitor" => "|",
        "xor" => "^",
        "compl" => "~",
        "not_eq" => "!=",
        _ => return None,
    })
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
    fn unknown_characters_are_refused_with_their_position() {
        let bad = tokens("a\n @").unwrap_err();
        assert_eq!((bad.pos.line, bad.pos.column, bad.problem.code()), (2, 2, "syntax"));
        assert_eq!(tokens("/* x").unwrap_err().pos, Pos { line: 1, column: 1 });
        assert_eq!(tokens(&"x".repeat(MAX_SOURCE_BYTES + 1)).unwrap_err().problem.code(), "too_long");
        assert!(tokens("\"abc").is_err());
    }
}
