//! The text between an operation's name and the colon of its types: operands, words and attributes in some order.

use super::parse::read_regions;
use super::syntax::{Module, Name, Operation, Use};
use super::values::attribute;
use crate::lexer::{Lexer, TokenKind};
use ns_program::ImportError;

/// Everything between the name and the colon; returns the names that a loop gives to the values that it carries.
pub(super) fn read_parts<'a>(
    lexer: &mut Lexer<'a>,
    module: &mut Module<'a>,
    operation: &mut Operation<'a>,
    depth: u32,
) -> Result<Vec<Name<'a>>, ImportError> {
    let mut names = Vec::new();
    // After `init:` a reduction lists initial values; they come after all arrays.
    let (mut first_values, mut is_first_value) = (Vec::new(), false);
    let mut parens = 0u32;
    loop {
        let token = lexer.peek();
        match token.kind {
            TokenKind::Sign(':') if parens == 0 => break,
            TokenKind::Sign(':') => {
                lexer.next();
            }
            TokenKind::End => return Err(lexer.unexpected(token, "an operation")),
            TokenKind::Sign('(') => {
                lexer.next();
                match lexer.peek().is('{') {
                    true => read_regions(lexer, module, operation, depth)?,
                    false => (parens, is_first_value) = (parens + 1, false),
                }
            }
            TokenKind::Sign(')') if parens > 0 => {
                lexer.next();
                parens -= 1;
            }
            TokenKind::Name if token.is_first_on_line && parens == 0 => break,
            TokenKind::Name if token.text.starts_with('%') => {
                let read = read_use(lexer)?;
                if lexer.take('=') {
                    // `%iterArg = %5` of a loop: a name for the regions, and its initial value.
                    names.push(read.name);
                    operation.operands.push(read_use(lexer)?);
                } else if is_first_value {
                    first_values.push(read);
                } else {
                    operation.operands.push(read);
                }
            }
            TokenKind::Sign('{') if parens == 0 && !token.is_first_on_line => read_dictionary(lexer, operation)?,
            TokenKind::Sign('<') if parens == 0 && lexer.source()[token.start..].starts_with("<{") => {
                read_dictionary(lexer, operation)?;
            }
            TokenKind::Sign('[' | '<') => {
                let group = lexer.group()?;
                operation.words.push(group);
            }
            TokenKind::Sign(',') => {
                lexer.next();
            }
            TokenKind::Word | TokenKind::Text | TokenKind::Name => {
                if token.is_first_on_line && parens == 0 || token.is_word("loc") {
                    break;
                }
                read_word(lexer, operation)?;
                is_first_value |= token.is_word("init");
            }
            _ if token.is_first_on_line => break,
            _ => return Err(lexer.unexpected(token, "an operand or an attribute")),
        }
    }
    operation.operands.extend(first_values);
    Ok(names)
}

/// A single word, or a name and the attribute that follows it.
fn read_word<'a>(lexer: &mut Lexer<'a>, operation: &mut Operation<'a>) -> Result<(), ImportError> {
    let word = lexer.next();
    if lexer.take('=') {
        let value = read_value(lexer, false)?;
        operation.attributes.push((word.text, attribute(value)));
        return Ok(());
    }
    let end = match lexer.peek() {
        next if next.is('<') && next.start == word.end => next.start + lexer.group()?.len(),
        _ => word.end,
    };
    operation.words.push(&lexer.source()[word.start..end]);
    Ok(())
}

/// An attribute's value, up to the comma or the closing bracket outside groups; outside of a dictionary also up to the colon of
/// the types or the dictionary that follows.
fn read_value<'a>(lexer: &mut Lexer<'a>, is_in_dictionary: bool) -> Result<&'a str, ImportError> {
    let start = lexer.peek().start;
    let mut end = start;
    loop {
        let token = lexer.peek();
        let ends = match token.kind {
            TokenKind::End | TokenKind::Sign(',' | '}' | ')' | '>' | ']') => true,
            TokenKind::Sign(':' | '{') if !is_in_dictionary => end > start,
            _ => !is_in_dictionary && token.is_first_on_line && end > start,
        };
        if ends {
            return Ok(&lexer.source()[start..end]);
        }
        end = match token.kind {
            TokenKind::Sign('{' | '(' | '[' | '<') => token.start + lexer.group()?.len(),
            _ => lexer.next().end,
        };
    }
}

/// `{a = 1 : i64, b}` or `<{a = 1 : i64}>`.
fn read_dictionary<'a>(lexer: &mut Lexer<'a>, operation: &mut Operation<'a>) -> Result<(), ImportError> {
    let is_bracketed = lexer.take('<');
    lexer.expect('{', "attributes")?;
    while !lexer.take('}') {
        let key = lexer.next();
        if !matches!(key.kind, TokenKind::Word | TokenKind::Text) {
            return Err(lexer.unexpected(key, "an attribute's name"));
        }
        let value = if lexer.take('=') { read_value(lexer, true)? } else { "unit" };
        operation.attributes.push((key.text, attribute(value)));
        if !lexer.take(',') && !lexer.peek().is('}') {
            let token = lexer.next();
            return Err(lexer.unexpected(token, "`,` or `}` of attributes"));
        }
    }
    if is_bracketed {
        lexer.expect('>', "attributes")?;
    }
    Ok(())
}

fn read_use<'a>(lexer: &mut Lexer<'a>) -> Result<Use<'a>, ImportError> {
    let token = lexer.next();
    if token.kind != TokenKind::Name {
        return Err(lexer.unexpected(token, "a value"));
    }
    let next = lexer.peek();
    let is_part = next.kind == TokenKind::Name && next.start == token.end && next.text.starts_with('#');
    let index = match is_part.then(|| lexer.next()) {
        Some(part) => part.bare_name().parse().map_err(|_| lexer.unexpected(part, "a result's number"))?,
        None => 0,
    };
    Ok(Use { name: Name::Text(token.text), index, at: token.start })
}
