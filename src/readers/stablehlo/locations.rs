//! Locations: names of operations with `debug_info=True`, including torch_xla's form of them, which MLIR cannot read.

use super::syntax::{Location, Module};
use crate::lexer::{Lexer, TokenKind};
use ns_program::ImportError;

/// `#loc4 = loc("name"(#loc3))`; other aliases are skipped.
pub(super) fn read_alias<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>) -> Result<(), ImportError> {
    let alias = lexer.next().text;
    if !lexer.take('=') {
        let token = lexer.next();
        return Err(lexer.unexpected(token, "`=` of an alias"));
    }
    let is_location = lexer.take_word("loc");
    if is_location {
        if let Some(name) = location_name(lexer.group()?) {
            module.locations.insert(alias, name);
        }
        return Ok(());
    }
    module.has_pretty_locations |= alias.starts_with("#loc");
    let first = lexer.peek();
    if first.kind == TokenKind::Text && !first.is_first_on_line {
        module.locations.insert(alias, first.text);
    }
    // A call site continues on the next line, with `at`.
    while !lexer.peek().is_first_on_line || lexer.peek().is_word("at") {
        match lexer.peek().kind {
            TokenKind::Sign('(' | '[' | '{' | '<') => {
                lexer.group()?;
            }
            _ => {
                lexer.next();
            }
        }
    }
    Ok(())
}

/// The name in `("jit(f)/MLP/add"(#loc3))`.
fn location_name(group: &str) -> Option<&str> {
    let inner = group.strip_prefix('(')?.trim_start().strip_prefix('"')?;
    let (name, rest) = inner.split_once('"')?;
    // A file, a line and a column are not a name.
    (!rest.starts_with(':')).then_some(name)
}

/// A location after an operation: `loc(#loc4)`, or in torch_xla's form, `"aten__add"(#loc4)`, `[unknown]`, `#loc4`.
pub(super) fn read_location<'a>(lexer: &mut Lexer<'a>, module: &mut Module<'a>) -> Result<Location<'a>, ImportError> {
    let token = lexer.peek();
    if token.is_word("loc") {
        lexer.next();
        let group = lexer.group()?;
        let alias = group.strip_prefix("(#").and_then(|_| group.get(1..group.len() - 1));
        return Ok(match (alias, location_name(group)) {
            (Some(alias), _) => Location::Alias(alias.trim()),
            (None, Some(name)) => Location::Name(name),
            (None, None) => Location::None,
        });
    }
    if token.is_first_on_line {
        return Ok(Location::None);
    }
    match token.kind {
        TokenKind::Text => {
            lexer.next();
            if lexer.peek().is('(') {
                lexer.group()?;
            }
            module.has_pretty_locations = true;
            Ok(Location::Name(token.text))
        }
        TokenKind::Sign('[') if lexer.source()[token.start..].starts_with("[unknown]") => {
            lexer.group()?;
            module.has_pretty_locations = true;
            Ok(Location::None)
        }
        TokenKind::Name if token.text.starts_with("#loc") => {
            lexer.next();
            module.has_pretty_locations = true;
            Ok(Location::Alias(token.text))
        }
        _ => Ok(Location::None),
    }
}
