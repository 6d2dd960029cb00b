//! Lines that begin with `#`: headers are accepted, a name defined as a constant is replaced, everything else is
//! refused.

use super::lexer::{Lexer, TokenKind, line_length};
use crate::problem::{Diagnostic, Pos, Problem};

/// Most tokens that one name can stand for.
const MAX_TOKENS: usize = 256;

impl Lexer<'_> {
    /// One preprocessor line, with its continuation lines. Fails when it is not `#include`, `#pragma` or a `#define` without
    /// parameters.
    pub(super) fn preprocessor_line(&mut self, pos: Pos) -> Result<(), Diagnostic> {
        let line = self.take(line_length(self.rest));
        let directive = line.trim_start_matches('#').trim_start();
        let word: String = directive.chars().take_while(char::is_ascii_alphabetic).collect();
        let instead = match word.as_str() {
            // A `#` alone on its line has no effect.
            "" | "include" | "pragma" => return Ok(()),
            "define" => return self.define(pos, line[line.len() - directive.len()..].trim_start_matches("define")),
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                "keep the lines that are meant, and leave the condition out"
            }
            _ => "leave it out",
        };
        Err(refused(pos, format!("the preprocessor line #{word}"), instead))
    }

    fn define(&mut self, pos: Pos, rest: &str) -> Result<(), Diagnostic> {
        let text = rest.trim_start();
        let len = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (name, value) = text.split_at(len);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            let problem = Problem::syntax("a name after #define", &format!("'{text}'"));
            return Err(Diagnostic::new(pos, problem));
        }
        if value.starts_with('(') {
            return Err(refused(pos, format!("the macro {name}(...)"), "write a function"));
        }
        let mut inner = Lexer {
            rest: value,
            line: pos.line,
            column: pos.column,
            fresh_line: false,
            constants: self.constants.clone(),
        };
        let tokens = inner.run()?;
        if tokens.len() > MAX_TOKENS {
            return Err(refused(
                pos,
                format!("a #define of {} tokens", tokens.len()),
                "write a function or a constant",
            ));
        }
        let kinds = tokens.into_iter().map(|t| t.kind).filter(|kind| *kind != TokenKind::End);
        self.constants.push((name.to_owned(), kinds.collect()));
        Ok(())
    }
}

fn refused(pos: Pos, what: String, instead: &str) -> Diagnostic {
    Diagnostic::new(pos, Problem::not_supported(&what, instead))
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;

    fn in_words(source: &str) -> String {
        match tokens(source) {
            Ok(found) => found.iter().map(|t| t.kind.in_words()).collect::<Vec<_>>().join(" "),
            Err(d) => format!("{} {}", d.problem.code(), d.pos),
        }
    }

    #[test]
    fn a_name_stands_for_its_tokens() {
        let end = "the end of the file";
        assert_eq!(
            in_words("#define N (4 + 1) // five\nN * N"),
            format!("'(' '4' '+' '1' ')' '*' '(' '4' '+' '1' ')' {end}")
        );
        assert_eq!(in_words("#define A 2\n#define B A A\nB"), format!("'2' '2' {end}"));
        assert_eq!(in_words("#define LONG 1 + \\\n  2\nLONG"), format!("'1' '+' '2' {end}"));
        assert_eq!(in_words("#include <x.h>\n#pragma once\n#\nx"), format!("'x' {end}"));
    }

    #[test]
    fn other_directives_are_refused_with_their_position() {
        for (source, expected) in [
            ("\n #define SQ(x) x * x", "not_supported 2:2"),
            ("#ifdef X", "not_supported 1:1"),
            ("#undef X", "not_supported 1:1"),
            ("#define 4 x", "syntax 1:1"),
            ("#define Q '", "syntax 1:11"),
        ] {
            assert!(
                in_words(source).starts_with(expected.split(' ').next().unwrap()),
                "{source}: {}",
                in_words(source)
            );
        }
        // Thirty lines that each double the one before would be a billion tokens.
        let mut bomb = "#define A0 1 1\n".to_owned();
        for i in 1..30 {
            bomb.push_str(&format!("#define A{i} A{} A{}\n", i - 1, i - 1));
        }
        assert!(in_words(&bomb).starts_with("not_supported"));
        assert!(in_words(&format!("#define A {}\n{}", "1 ".repeat(200), "A ".repeat(2_000))).starts_with("too_long"));
    }
}
