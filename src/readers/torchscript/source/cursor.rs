//! A position among the tokens of a source.

use ns_base::{Refusal, refuse};

use super::lexer::ScriptToken;

/// Most levels of nested expressions and blocks.
const MAX_DEPTH: usize = 100;

/// Most fields, calls and operators in a row in one expression: each is also a level of the tree.
const MAX_CHAIN: usize = 24;

/// A line, and what is wrong in it.
pub type Wrong = (u32, Refusal);

/// Tokens with a current position.
pub struct Parser {
    /// All tokens with their lines.
    pub tokens: Vec<(ScriptToken, u32)>,
    pub at: usize,
    /// Number of open levels.
    pub depth: usize,
}

impl Parser {
    /// The next token, without consuming it.
    pub fn peek(&self) -> &ScriptToken {
        self.tokens.get(self.at).map_or(&ScriptToken::End, |t| &t.0)
    }

    pub fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.1)
    }

    pub fn next(&mut self) -> ScriptToken {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// Consumes a sign if it is next.
    pub fn take(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), ScriptToken::Sign(s) if *s == sign);
        self.at += usize::from(is);
        is
    }

    /// Consumes a word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), ScriptToken::Name(name) if name == word);
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
            ScriptToken::Name(name) => Ok(name),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a name"))
            }
        }
    }

    /// An error that names the expected token and the actual one.
    pub fn unexpected(&self, wanted: &str) -> Wrong {
        let found: String = match self.peek() {
            ScriptToken::Name(text) | ScriptToken::Number(text) => {
                format!("`{}`", text.chars().take(60).collect::<String>())
            }
            ScriptToken::Text(_) => "a text".to_owned(),
            ScriptToken::Sign(sign) => format!("`{sign}`"),
            ScriptToken::Line => "the end of the line".to_owned(),
            ScriptToken::Indent | ScriptToken::Dedent => "another indentation".to_owned(),
            ScriptToken::End => "the end of the file".to_owned(),
        };
        (self.line(), refuse!("{wanted} is wanted and {found} is there"))
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        while !matches!(self.peek(), ScriptToken::Line | ScriptToken::End) {
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
