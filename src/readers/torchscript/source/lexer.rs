//! Tokens of TorchScript's source. Lines and their indentation have a meaning here, unlike in HLO and MLIR text.

use ns_base::refuse;

use super::cursor::Wrong;

#[derive(Clone, Debug, PartialEq)]
pub enum ScriptToken {
    /// A name or a keyword.
    Name(String),
    /// A number as it is written.
    Number(String),
    /// A string, without its quotation marks and escapes.
    Text(String),
    /// Signs: `(`, `->`, `==`.
    Sign(&'static str),
    /// The end of a line outside brackets.
    Line,
    Indent,
    Dedent,
    End,
}

/// Signs, those with two characters first.
const SIGNS: [&str; 26] = [
    "->", "==", "!=", "<=", ">=", "//", "**", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "<", ">", "+", "-",
    "*", "/", "%", "@", ";",
];

/// Tokens of a source with the line of each, from 1. Fails with the line and what is wrong in it.
pub fn tokens(source: &str) -> Result<Vec<(ScriptToken, u32)>, Wrong> {
    let mut lexer = Lexer { source, at: 0, line: 1, open: 0, indents: vec![0], found: Vec::new() };
    while lexer.at < source.len() {
        lexer.step()?;
    }
    lexer.push(ScriptToken::Line);
    while lexer.indents.len() > 1 {
        lexer.indents.pop();
        lexer.push(ScriptToken::Dedent);
    }
    lexer.push(ScriptToken::End);
    Ok(lexer.found)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    /// Number of open brackets.
    open: usize,
    indents: Vec<usize>,
    found: Vec<(ScriptToken, u32)>,
}

impl Lexer<'_> {
    fn push(&mut self, token: ScriptToken) {
        // Blank lines are not statements.
        let is_blank = token == ScriptToken::Line && matches!(self.found.last(), None | Some((ScriptToken::Line, _)));
        if !is_blank {
            self.found.push((token, self.line));
        }
    }

    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Reads one token, or the space in front of one.
    fn step(&mut self) -> Result<(), Wrong> {
        let Some(first) = self.rest().chars().next() else { return Ok(()) };
        match first {
            '\n' => {
                self.at += 1;
                if self.open == 0 {
                    self.push(ScriptToken::Line);
                    self.line += 1;
                    return self.indentation();
                }
                self.line += 1;
            }
            ' ' | '\t' | '\r' => self.at += 1,
            '\\' if self.rest().starts_with("\\\n") => {
                self.at += 2;
                self.line += 1;
            }
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' | '\'' => self.text(first)?,
            c if c.is_ascii_digit() => self.number(),
            c if c == '_' || c.is_alphabetic() => {
                let rest = self.rest();
                let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
                let name = rest[..end].to_owned();
                self.at += end;
                self.push(ScriptToken::Name(name));
            }
            other => {
                let sign = SIGNS.into_iter().find(|s| self.rest().starts_with(s));
                let Some(sign) = sign else {
                    return Err((self.line, refuse!("the character {other:?} is not known")));
                };
                self.at += sign.len();
                match sign {
                    "(" | "[" | "{" => self.open += 1,
                    ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
                    _ => {}
                }
                self.push(ScriptToken::Sign(sign));
            }
        }
        Ok(())
    }

    /// Indentation of a new line; blank lines do not have any.
    fn indentation(&mut self) -> Result<(), Wrong> {
        let rest = self.rest();
        let width = rest.len() - rest.trim_start_matches(' ').len();
        if matches!(rest.as_bytes().get(width), None | Some(b'\n' | b'#' | b'\r')) {
            return Ok(());
        }
        self.at += width;
        let now = self.indents.last().copied().unwrap_or(0);
        if width > now {
            self.indents.push(width);
            self.push(ScriptToken::Indent);
        }
        while self.indents.last().is_some_and(|&n| n > width) {
            self.indents.pop();
            self.push(ScriptToken::Dedent);
        }
        if self.indents.last() != Some(&width) {
            return Err((self.line, refuse!("its indentation does not match any block around it")));
        }
        Ok(())
    }

    /// A number: digits, a point, an exponent with its sign.
    fn number(&mut self) {
        let bytes = self.rest().as_bytes();
        let mut end = 0;
        while let Some(&b) = bytes.get(end) {
            let is_exponent_sign =
                matches!(b, b'+' | b'-') && matches!(bytes.get(end.wrapping_sub(1)), Some(b'e' | b'E'));
            if !(b.is_ascii_alphanumeric() || b == b'.' || b == b'_' || is_exponent_sign) {
                break;
            }
            end += 1;
        }
        let number = self.rest().get(..end).unwrap_or_default().to_owned();
        self.at += end.max(1);
        self.push(ScriptToken::Number(number));
    }

    fn text(&mut self, quote: char) -> Result<(), Wrong> {
        let (mut text, start) = (String::new(), self.line);
        let mut chars = self.source.get(self.at + 1..).unwrap_or_default().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.at += at + 2;
                    self.push(ScriptToken::Text(text));
                    return Ok(());
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err((start, refuse!("a string has no end")))
    }
}

#[cfg(test)]
mod tests {
    use super::{ScriptToken, tokens};

    #[test]
    fn lines_blocks_numbers_and_texts() {
        let found: Vec<ScriptToken> = tokens("def f(a,\n    b):\n  x = [1e-05, \"a\\\"b\"]\n\n  y\nz\n")
            .unwrap()
            .into_iter()
            .map(|t| t.0)
            .collect();
        let signs: Vec<String> = found.iter().map(|t| format!("{t:?}")).collect();
        assert_eq!(found.iter().filter(|t| **t == ScriptToken::Line).count(), 4, "{signs:?}");
        assert!(
            found.contains(&ScriptToken::Number("1e-05".to_owned()))
                && found.contains(&ScriptToken::Text("a\"b".to_owned()))
        );
        assert_eq!(found.iter().filter(|t| matches!(t, ScriptToken::Indent | ScriptToken::Dedent)).count(), 2);
    }

    #[test]
    fn what_is_no_token_is_named_with_its_line() {
        assert_eq!(tokens("a\n$").unwrap_err().0, 2);
        assert_eq!(tokens("a = \"b\n").unwrap_err(), (1, ns_base::Refusal::new("a string has no end")));
        assert!(tokens("a\n    b\n  c\n").unwrap_err().1.to_string().contains("indentation"));
    }
}
