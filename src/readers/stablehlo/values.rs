//! Attributes in text: `3 : i64`, `[1, 2]`, `array<i64: 1, 2>`, `dense<0> : tensor<4xi32>`, `#stablehlo.gather<offset_dims = [1]>`.

use super::syntax::{Attribute, Elements};
use super::types::tensor;
use crate::lexer::{Lexer, TokenKind};

/// Most levels of nested lists and dictionaries.
const MOST_NESTING: u32 = 16;

pub(super) fn attribute(text: &str) -> Attribute<'_> {
    if let Some(array) = array(text) {
        return array;
    }
    let mut lexer = Lexer::with_angles(text);
    value(&mut lexer, MOST_NESTING).unwrap_or(Attribute::Other(text))
}

/// `dense<..> : tensor<..>`, whose numbers are read where their type is known.
fn array(text: &str) -> Option<Attribute<'_>> {
    if text.starts_with("dense_resource<") || text.starts_with("dense<__elided__") {
        return Some(Attribute::Array(Elements::Elided, None));
    }
    let (elements, rest) = text.strip_prefix("dense<")?.split_once('>')?;
    let ty = rest.trim_start().strip_prefix(':').map(|ty| ty.trim().trim_end_matches('>'));
    let ty = ty.and_then(|ty| tensor(ty.strip_prefix("tensor<")?).ok()).filter(|ty| ty.open.is_empty());
    Some(Attribute::Array(Elements::Text(elements), ty.and_then(|ty| ty.ty.array().cloned())))
}

fn value<'a>(lexer: &mut Lexer<'a>, depth: u32) -> Option<Attribute<'a>> {
    let depth = depth.checked_sub(1)?;
    let token = lexer.next();
    match token.kind {
        TokenKind::Text => Some(Attribute::Text(token.text)),
        TokenKind::Name if token.text.starts_with('@') => Some(Attribute::Symbol(token.bare_name())),
        TokenKind::Name if lexer.peek().is('<') => enumeration(lexer, depth),
        TokenKind::Word if token.text == "array" && lexer.take('<') => {
            lexer.expect_kind(TokenKind::Word, "an element type").ok()?;
            lexer.take(':');
            items(lexer, '>', depth).map(Attribute::List)
        }
        TokenKind::Word if token.text.starts_with("dense") && lexer.peek().is('<') => {
            let end = token.end + lexer.group().ok()?.len();
            array(&lexer.source()[token.start..end])
        }
        TokenKind::Word => Some(word(token.text)),
        TokenKind::Sign('[') => {
            let first = Attribute::List(items(lexer, ']', depth)?);
            // `[0] x [1]`, `[b, 0, f]x[0, i, o]->[b, 0, f]`
            let mut joined = vec![first];
            while lexer.peek().is_word("x") || lexer.peek().kind == TokenKind::Arrow {
                lexer.next();
                lexer.expect('[', "a list").ok()?;
                joined.push(Attribute::List(items(lexer, ']', depth)?));
            }
            if joined.len() > 1 { Some(Attribute::List(joined)) } else { joined.pop() }
        }
        TokenKind::Sign('{') => pairs(lexer, '}', depth).map(Attribute::Dictionary),
        _ => None,
    }
}

fn word(text: &str) -> Attribute<'_> {
    match text {
        "true" => Attribute::Whole(1),
        "false" => Attribute::Whole(0),
        _ => match (text.parse(), text.parse()) {
            (Ok(n), _) => Attribute::Whole(n),
            (_, Ok(x)) => Attribute::Real(x),
            _ => Attribute::Word(text),
        },
    }
}

/// What follows `#stablehlo`: `<comparison_direction LT>`, `<offset_dims = [1]>`, `<[b, f]x[i, o]->[b, f]>`.
fn enumeration<'a>(lexer: &mut Lexer<'a>, depth: u32) -> Option<Attribute<'a>> {
    lexer.take('<');
    if lexer.peek().is('[') {
        return value(lexer, depth);
    }
    let mut ahead = lexer.clone();
    ahead.next();
    if ahead.peek().is('=') || lexer.peek().is('>') {
        return pairs(lexer, '>', depth).map(Attribute::Dictionary);
    }
    let mut last = lexer.next();
    while lexer.peek().kind == TokenKind::Word {
        last = lexer.next();
    }
    lexer.take('>').then_some(Attribute::Word(last.text))
}

/// Values up to the closing bracket.
fn items<'a>(lexer: &mut Lexer<'a>, end: char, depth: u32) -> Option<Vec<Attribute<'a>>> {
    let mut items = Vec::new();
    while !lexer.take(end) {
        items.push(value(lexer, depth)?);
        skip_type(lexer, end)?;
    }
    Some(items)
}

/// `name = value` up to the closing bracket.
fn pairs<'a>(lexer: &mut Lexer<'a>, end: char, depth: u32) -> Option<Vec<(&'a str, Attribute<'a>)>> {
    let mut pairs = Vec::new();
    while !lexer.take(end) {
        let key = lexer.next();
        if !matches!(key.kind, TokenKind::Word | TokenKind::Text) {
            return None;
        }
        let value = if lexer.take('=') { value(lexer, depth)? } else { Attribute::Word("unit") };
        pairs.push((key.text, value));
        skip_type(lexer, end)?;
    }
    Some(pairs)
}

/// Skips the type behind a value, and the comma.
fn skip_type(lexer: &mut Lexer<'_>, end: char) -> Option<()> {
    if lexer.take(':') {
        while !lexer.peek().is(',') && !lexer.peek().is(end) {
            lexer.group().ok()?;
        }
    }
    (lexer.take(',') || lexer.peek().is(end)).then_some(())
}
