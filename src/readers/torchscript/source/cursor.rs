//! A position among the tokens of a source.

use ns_base::{Refusal, refuse};

use super::lexer::Token;

/// Most levels of nested expressions and blocks.
const MAX_DEPTH: usize = 100;

/// Most fields, calls and operators in a row in one expression: each is also a level of the tree.
const MAX_CHAIN: usize = 24;

/// A line, and what is wrong in it.
pub type Wrong = (u32, Refusal);

/// Tokens with a current position.
pub struct Parser {
    /// All tokens with their lines.
    pub tokens: Vec<(Token, u32)>,
    pub at: usize,
    /// Number of open levels.
    pub depth: usize,
}

impl Parser {
    /// The next token, without consuming it.
    pub fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |t| &t.0)
    }

    pub fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.1)
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// Consumes a sign if it is next.
    pub fn take(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Token::Sign(s) if *s == sign);
        self.at += usize::from(is);
        is
    }

    /// Consumes a word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Name(name) if name == word);
        self.at += usize::from(is);
        is
    }

    /// Consumes a sign. Fails when another token is next.
    pub fn expect(&mut self, sign: &'static str) -> Result<(), Wrong> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// Consumes a name. Fails when another token is next.
    pub fn name(&mut self) -> Result<String, Wrong> {
        match self.next() {
            Token::Name(name) => Ok(name),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a name"))
            }
        }
    }

    /// An error that names the expected token and the actual one.
    pub fn unexpected(&self, wanted: &str) -> Wrong {
        let found: String = match self.peek() {
            Token::Name(text) | Token::Number(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
            Token::Text(_) => "a text".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Line => "the end of the line".to_owned(),
            Token::Indent | Token::Dedent => "another indentation".to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        (self.line(), refuse!("{wanted} is wanted and {found} is there"))
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        while !matches!(self.peek(), Token::Line | Token::End) {
            self.at += 1;
        }
        self.at += 1;
    }

    /// Enters a level. Fails when there are too many levels.
    pub fn deeper(&mut self) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.line(), refuse!("more than {MAX_DEPTH} levels are nested")));
        }
        Ok(())
    }

    /// Checks the number of fields, calls and operators in a row. Fails when there are too many.
    pub fn check_chain(&self, count: usize) -> Result<(), Wrong> {
        if count > MAX_CHAIN {
            return Err((self.line(), refuse!("more than {MAX_CHAIN} fields, calls or operators follow each other")));
        }
        Ok(())
    }
}
