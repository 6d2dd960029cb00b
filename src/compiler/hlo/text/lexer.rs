//! Tokens of HLO text, each with its position.

use super::error::{ParseError, ParseProblem};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, opcode or number: anything of letters, digits and `. _ - +`.
    Word(String),
    /// `%name`
    Value(String),
    /// `"text"`
    Text(String),
    /// One of `( ) { } [ ] = , :`
    Mark(char),
    /// The end of the text.
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(w) => format!("{w:?}"),
            Self::Value(v) => format!("%{v}"),
            Self::Text(t) => format!("the text {t:?}"),
            Self::Mark(c) => format!("{c:?}"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub token: Token,
    pub line: u32,
    pub column: u32,
}

impl Placed {
    pub(super) fn error(&self, problem: impl Into<ParseProblem>) -> ParseError {
        ParseError { line: self.line, column: self.column, problem: problem.into() }
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+')
}

/// Splits text into tokens; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut lexer = Lexer { chars: text.chars().peekable(), line: 1, column: 1 };
    let mut out = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let end = token == Token::End;
        out.push(Placed { token, line, column });
        if end {
            return Ok(out);
        }
    }
}

struct Lexer<'t> {
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn bump(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn error(&self, problem: ParseProblem) -> ParseError {
        ParseError { line: self.line, column: self.column, problem }
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        while let Some(&c) = self.chars.peek() {
            if c.is_whitespace() {
                self.bump();
            } else if c == '/' {
                self.bump();
                if self.chars.peek() != Some(&'/') {
                    return Err(self.error(ParseProblem::Slash));
                }
                while self.chars.peek().is_some_and(|c| *c != '\n') {
                    self.bump();
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(&c) = self.chars.peek() {
            if !is_word(c) {
                break;
            }
            word.push(c);
            self.bump();
        }
        word
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(&c) = self.chars.peek() else { return Ok(Token::End) };
        match c {
            '(' | ')' | '{' | '}' | '[' | ']' | '=' | ',' | ':' => {
                self.bump();
                Ok(Token::Mark(c))
            }
            '%' => {
                self.bump();
                let name = self.word();
                if name.is_empty() { Err(self.error(ParseProblem::NoName)) } else { Ok(Token::Value(name)) }
            }
            '"' => self.text(),
            c if is_word(c) => Ok(Token::Word(self.word())),
            c => Err(self.error(ParseProblem::Character(c))),
        }
    }

    fn text(&mut self) -> Result<Token, ParseError> {
        let start = self.error(ParseProblem::EndlessText);
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(start),
                Some('"') => return Ok(Token::Text(text)),
                Some('\\') => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some(c) => text.push(c),
                    None => return Err(start),
                },
                Some(c) => text.push(c),
            }
        }
    }
}
