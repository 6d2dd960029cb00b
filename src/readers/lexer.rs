//! Tokens of HLO text and of MLIR text: words, names, strings and signs.
//!
//! Both have C's comments and strings, names with a sign in front (`%dot.3`, `@main`, `#loc4`, `^bb0`), and words that include
//! dots and, in HLO, hyphens (`get-tuple-element`, `1_1x0_-1`).

use ns_base::{Refusal, refuse};

use ns_program::{ImportError, Place};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier or a number.
    Word,
    /// A name with its sign: `%x`, `@x`, `#x`, `^x`, `!x`.
    Name,
    /// A string in quotation marks; its `text` is the content, with escapes as written.
    Text,
    /// `->`.
    Arrow,
    /// One character.
    Sign(char),
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Its first byte.
    pub start: usize,
    /// One beyond its last byte.
    pub end: usize,
    /// Whether there is a line end between it and the token before.
    pub is_first_on_line: bool,
}

impl<'a> Token<'a> {
    /// Whether the token is this character.
    pub fn is(&self, sign: char) -> bool {
        self.kind == TokenKind::Sign(sign)
    }

    /// Whether the token is this word.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text == word
    }

    /// The name without its sign.
    pub fn bare_name(&self) -> &'a str {
        match self.kind {
            TokenKind::Name => self.text.get(1..).unwrap_or(self.text),
            _ => self.text,
        }
    }
}

/// Reads tokens one after another, with one token of lookahead.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    peeked: Option<Token<'a>>,
    has_angles: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer for HLO text, where `<` is an ordinary sign.
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0, peeked: None, has_angles: false }
    }

    /// A lexer for MLIR text, where `<` and `>` are brackets.
    pub fn with_angles(source: &'a str) -> Self {
        Self { source, at: 0, peeked: None, has_angles: true }
    }

    pub fn source(&self) -> &'a str {
        self.source
    }

    /// The next token, without consuming it.
    pub fn peek(&mut self) -> Token<'a> {
        match self.peeked {
            Some(token) => token,
            None => {
                let token = self.scan();
                self.peeked = Some(token);
                token
            }
        }
    }

    pub fn next(&mut self) -> Token<'a> {
        match self.peeked.take() {
            Some(token) => token,
            None => self.scan(),
        }
    }

    /// Consumes the next token if it is this character.
    pub fn take(&mut self, sign: char) -> bool {
        let is = self.peek().is(sign);
        if is {
            self.next();
        }
        is
    }

    /// Consumes the next token if it is this word.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is = self.peek().is_word(word);
        if is {
            self.next();
        }
        is
    }

    /// Consumes the next token, which must be this character.
    pub fn expect(&mut self, sign: char, of: &'static str) -> Result<Token<'a>, ImportError> {
        let token = self.next();
        if token.is(sign) { Ok(token) } else { Err(self.unexpected(token, &format!("{sign:?} of {of}"))) }
    }

    /// Consumes the next token, which must be of this kind.
    pub fn expect_kind(&mut self, kind: TokenKind, part: &'static str) -> Result<Token<'a>, ImportError> {
        let token = self.next();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, part)) }
    }

    /// The text from a token to the end of the group that it opens, or the token alone. Groups may nest to any depth.
    pub fn group(&mut self) -> Result<&'a str, ImportError> {
        let first = self.next();
        let mut open = Vec::new();
        let mut last = first;
        loop {
            match last.kind {
                TokenKind::Sign('<' | '>') if !self.has_angles => {}
                TokenKind::Sign(sign @ ('(' | '[' | '{' | '<')) => open.push(sign),
                TokenKind::Sign(sign @ (')' | ']' | '}' | '>')) => {
                    let opened = open.pop();
                    if opened != Some(opening(sign)) {
                        let wrong = refuse!(instead = "look at the brackets before it", "{sign:?} closes nothing");
                        return Err(self.error_at(last.start, wrong));
                    }
                }
                TokenKind::End => return Err(self.cut_off()),
                _ => {}
            }
            if open.is_empty() {
                return Ok(&self.source[first.start..last.end]);
            }
            last = self.next();
        }
    }

    /// An error for a token where something else is expected.
    pub fn unexpected(&self, token: Token<'_>, expected: &str) -> ImportError {
        if token.kind == TokenKind::End {
            return self.cut_off();
        }
        let found: String = token.text.chars().take(60).collect();
        let wrong = refuse!(
            instead = "export the text again; it must not be edited by hand",
            "{found:?} where {expected} should be"
        );
        self.error_at(token.start, wrong)
    }

    fn cut_off(&self) -> ImportError {
        let cut_off = refuse!(instead = "it is cut off: copy the whole file", "the text ends in the middle");
        self.error_at(self.source.len(), cut_off)
    }

    /// An error at an offset, as line and column.
    pub fn error_at(&self, byte: usize, refusal: Refusal) -> ImportError {
        ImportError::at(place_of(self.source, byte), refusal)
    }

    fn scan(&mut self) -> Token<'a> {
        let is_first_on_line = self.skip_blank();
        let rest = &self.source[self.at..];
        let start = self.at;
        let Some(first) = rest.chars().next() else {
            return Token { kind: TokenKind::End, text: "", start, end: start, is_first_on_line: true };
        };
        let (kind, len) = match first {
            '"' => return self.scan_text(is_first_on_line),
            '-' if rest.starts_with("->") => (TokenKind::Arrow, 2),
            '%' | '@' | '#' | '^' | '!' => self.scan_name(rest),
            c if is_word(c) => (TokenKind::Word, word_len(rest)),
            '-' if rest[1..].starts_with(is_word) => (TokenKind::Word, 1 + word_len(&rest[1..])),
            c => (TokenKind::Sign(c), c.len_utf8()),
        };
        self.at += len;
        Token { kind, text: &rest[..len], start, end: start + len, is_first_on_line }
    }

    fn scan_name(&self, rest: &'a str) -> (TokenKind, usize) {
        if rest[1..].starts_with('"') {
            let body = text_len(&rest[1..]);
            return (TokenKind::Name, 1 + body);
        }
        match word_len(&rest[1..]) {
            0 => (TokenKind::Sign(rest.as_bytes()[0] as char), 1),
            len => (TokenKind::Name, 1 + len),
        }
    }

    fn scan_text(&mut self, is_first_on_line: bool) -> Token<'a> {
        let (start, rest) = (self.at, &self.source[self.at..]);
        let len = text_len(rest);
        self.at += len;
        let inner = rest[1..len].strip_suffix('"').unwrap_or(&rest[1..len]);
        Token { kind: TokenKind::Text, text: inner, start, end: start + len, is_first_on_line }
    }

    /// Skips white space and comments; returns whether a line ended.
    fn skip_blank(&mut self) -> bool {
        let bytes = self.source.as_bytes();
        let mut is_first_on_line = self.at == 0;
        loop {
            match (bytes.get(self.at), bytes.get(self.at + 1)) {
                (Some(b'\n'), _) => {
                    is_first_on_line = true;
                    self.at += 1;
                }
                (Some(b' ' | b'\t' | b'\r'), _) => self.at += 1,
                (Some(0xef), Some(0xbb)) if self.source[self.at..].starts_with('\u{feff}') => self.at += 3,
                (Some(b'/'), Some(b'/')) => {
                    let rest = &bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let rest = &bytes[self.at..];
                    self.at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                }
                _ => return is_first_on_line,
            }
        }
    }
}

/// Line and column of an offset, from 1.
pub(super) fn place_of(source: &str, byte: usize) -> Place {
    let before = &source.as_bytes()[..byte.min(source.len())];
    let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    Place::Line(line, column as u64 + 1)
}

fn opening(sign: char) -> char {
    match sign {
        ')' => '(',
        ']' => '[',
        '}' => '{',
        _ => '<',
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && c.is_alphanumeric()
}

/// Length of the word at the front. Dots and hyphens belong to it if a letter or a digit follows, `+` in an exponent.
fn word_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next_is_word = bytes.get(at + 1).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let is_exponent = at > 0 && matches!(bytes[at - 1], b'e' | b'E') && bytes[0].is_ascii_digit();
        let belongs = byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'$')
            || byte >= 0x80 && rest[at..].starts_with(is_word)
            || byte == b'.' && bytes.get(at + 1) != Some(&b'.')
            || byte == b'-' && next_is_word
            || byte == b'+' && is_exponent;
        if !belongs {
            break;
        }
        at += if byte >= 0x80 { rest[at..].chars().next().map_or(1, char::len_utf8) } else { 1 };
    }
    at
}

/// Length of the string at the front, including its quotation marks; the rest of the text if it does not end.
fn text_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A string with its escapes replaced: `\'`, `\"`, `\n`, `\22`.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let hex = rest.as_str().get(..2).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (hex, rest.next()) {
            (Some(byte), _) => {
                rest.next();
                out.push(byte as char);
            }
            (None, Some('n')) => out.push('\n'),
            (None, Some('t')) => out.push('\t'),
            (None, Some(other)) => out.push(other),
            (None, None) => {}
        }
    }
    out
}

/// All integers in a text, in order: `[0:2], [1:16:1]`, `{1,-1}`.
pub(super) fn integers(text: &str) -> Vec<i64> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == b'-' {
            at += 1;
        }
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        match text.get(start..at).map(str::parse) {
            Some(Ok(n)) => out.push(n),
            _ => at = at.max(start + 1),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let mut lexer = Lexer::new(source);
        std::iter::from_fn(|| Some(lexer.next()).filter(|t| t.kind != TokenKind::End))
            .map(|t| t.text.to_owned())
            .collect()
    }

    #[test]
    fn words_of_both_languages() {
        assert_eq!(
            words("%a.1 = f32[4]{0} get-tuple-element(%b-2), index=1, x=-1_0x0_-1 // rest"),
            [
                "%a.1",
                "=",
                "f32",
                "[",
                "4",
                "]",
                "{",
                "0",
                "}",
                "get-tuple-element",
                "(",
                "%b-2",
                ")",
                ",",
                "index",
                "=",
                "1",
                ",",
                "x",
                "=",
                "-1_0x0_-1"
            ]
        );
        assert_eq!(
            words("^bb0(%0#1 : i1) -> #loc3 @f 1.0e-05 dense<-2.5E+3>")[..6],
            ["^bb0", "(", "%0", "#1", ":", "i1"]
        );
        assert_eq!(
            words("1.0e-05 -2.5E+3 0xFF80 b01f_01io->b01f"),
            ["1.0e-05", "-2.5E+3", "0xFF80", "b01f_01io", "->", "b01f"]
        );
        assert_eq!(
            words("constant({...}) /*index=5*/ \"a\\\"b\""),
            ["constant", "(", "{", ".", ".", ".", "}", ")", "a\\\"b"]
        );
    }

    #[test]
    fn groups_nest_and_must_close() {
        let mut lexer = Lexer::new("{a={1,2} b=(x)} rest");
        assert_eq!(lexer.group(), Ok("{a={1,2} b=(x)}"));
        assert_eq!(lexer.next().text, "rest");
        let error = Lexer::new("\n {a={1,2}").group().unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2, column 10: the text ends in the middle; it is cut off: copy the whole file"
        );
        assert!(Lexer::new(&"(".repeat(100_000)).group().is_err());
        assert!(Lexer::new("(]").group().is_err());
    }

    #[test]
    fn numbers_and_escapes() {
        assert_eq!(integers("{[0:2], [1:-16]}"), [0, 2, 1, -16]);
        assert_eq!(unescaped(r"variables[\'params\'] \22x\22\n"), "variables['params'] \"x\"\n");
    }
}
