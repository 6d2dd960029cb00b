//! Files, namespaces, functions and declarations of variables.

use super::ast::{BaseType, Declarator, Item, SyntaxExpr, SyntaxExprKind, SyntaxFunction, TypeName};
use super::cursor::{Cursor, node};
use super::expressions::{assignment, expression};
use super::lexer::TokenKind;
use super::statements::block;
use super::templates::{make, template, typedef, using};
use super::type_names::{base_type, starts_type, type_name};
use crate::problem::Diagnostic;

/// The whole file. Fails at the first position that is not valid in the language.
pub(crate) fn file(c: &mut Cursor) -> Result<Vec<Item>, Diagnostic> {
    let mut items = Vec::new();
    while *c.here() != TokenKind::End {
        top_level(c, &mut items)?;
    }
    make(c, &mut items)?;
    Ok(items)
}

fn top_level(c: &mut Cursor, items: &mut Vec<Item>) -> Result<(), Diagnostic> {
    if c.accept(";") {
        return Ok(());
    }
    attributes(c)?;
    if c.is_word("using") {
        return using(c);
    }
    if c.is_word("namespace") {
        return c.nested(|c| namespace(c, items));
    }
    if c.is_word("typedef") {
        return typedef(c);
    }
    if c.is_word("template") {
        return template(c);
    }
    refuse_top_level(c)?;
    if !starts_type(c, 0) {
        if matches!(c.here(), TokenKind::Word(w) if !super::cursor::is_keyword(w)) {
            base_type(c)?;
        }
        return Err(c.expected("a function or a constant"));
    }
    let ty = type_name(c)?;
    let pos = c.pos();
    let name = c.name("the name of a function or a constant")?;
    if c.is("(") {
        return function(c, ty, name, items);
    }
    for declarator in declarators(c, ty, Some((pos, name)))? {
        items.push(Item::Constant(declarator));
    }
    c.expect(";", "after the declaration")
}

/// Skips `[[...]]`, which has no effect here. Fails when it is not closed.
pub(super) fn attributes(c: &mut Cursor) -> Result<(), Diagnostic> {
    while c.is("[") && c.is_ahead(1, "[") {
        while !(c.is("]") && c.is_ahead(1, "]")) {
            if *c.here() == TokenKind::End {
                return Err(c.expected("']]' after the attribute"));
            }
            c.next();
        }
        c.next();
        c.next();
    }
    Ok(())
}

fn refuse_top_level(c: &Cursor) -> Result<(), Diagnostic> {
    let TokenKind::Word(word) = c.here() else { return Ok(()) };
    let instead = match word.as_str() {
        "struct" | "class" | "union" | "enum" => "pass the values as arguments, or use static constexpr constants",
        "extern" => "leave it out: a kernel is one file",
        "NEURON_LIBRARY" => {
            "leave it out: it belongs in the file of the shape functions, shape.cpp, which --shape takes"
        }
        _ => return Ok(()),
    };
    Err(c.not_supported(&format!("'{word}'"), instead))
}

fn namespace(c: &mut Cursor, items: &mut Vec<Item>) -> Result<(), Diagnostic> {
    c.next();
    while !c.is("{") {
        if *c.here() == TokenKind::End {
            return Err(c.expected("'{' after the namespace's name"));
        }
        c.next();
    }
    c.next();
    while !c.accept("}") {
        if *c.here() == TokenKind::End {
            return Err(c.expected("'}' at the end of the namespace"));
        }
        top_level(c, items)?;
    }
    Ok(())
}

/// A function, from its parameters on; a declaration without a body adds nothing. Fails at the first position that is not valid.
pub(super) fn function(
    c: &mut Cursor,
    returns: TypeName,
    name: String,
    items: &mut Vec<Item>,
) -> Result<(), Diagnostic> {
    let pos = returns.pos;
    let parameters = parameters(c)?;
    c.accept_word("noexcept");
    if c.accept(";") {
        // A declaration without a body: either the definition follows, or the name is unknown.
        return Ok(());
    }
    let body = block(c)?;
    items.push(Item::Function(SyntaxFunction { pos, name, returns, parameters, body }));
    Ok(())
}

type Parameter = (TypeName, String, crate::problem::Pos);

fn parameters(c: &mut Cursor) -> Result<Vec<Parameter>, Diagnostic> {
    c.expect("(", "before the parameters")?;
    let mut found = Vec::new();
    if c.accept(")") {
        return Ok(found);
    }
    if c.is_word("void") && c.is_ahead(1, ")") {
        c.next();
        c.next();
        return Ok(found);
    }
    loop {
        let mut ty = type_name(c)?;
        let pos = c.pos();
        let name = c.name("the parameter's name")?;
        if c.accept("[") {
            // `float a[]` and `float a[4]` are pointers.
            while !c.accept("]") {
                if *c.here() == TokenKind::End {
                    return Err(c.expected("']'"));
                }
                c.next();
            }
            ty.pointer = true;
        }
        if c.is("=") {
            return Err(c.not_supported("a default argument", "give the argument at every call"));
        }
        found.push((ty, name, pos));
        if !c.accept(",") {
            break;
        }
    }
    c.expect(")", "after the parameters")?;
    Ok(found)
}

/// The names of one declaration; the first name may have been read already.
pub(crate) fn declarators(
    c: &mut Cursor,
    first: TypeName,
    read: Option<(crate::problem::Pos, String)>,
) -> Result<Vec<Declarator>, Diagnostic> {
    let mut found = Vec::new();
    let mut ty = first;
    let mut read = read;
    loop {
        let (pos, name) = match read.take() {
            Some(named) => named,
            None => (c.pos(), c.name("the variable's name")?),
        };
        found.push(declarator(c, ty, pos, name)?);
        if !c.accept(",") {
            return Ok(found);
        }
        // In `float *a, b` only a is a pointer.
        ty.pointer = c.accept("*");
        ty.reference = c.accept("&");
    }
}

fn declarator(c: &mut Cursor, ty: TypeName, pos: crate::problem::Pos, name: String) -> Result<Declarator, Diagnostic> {
    let mut array = None;
    if c.accept("[") {
        array = Some(if c.is("]") { None } else { Some(expression(c)?) });
        c.expect("]", "after the array's length")?;
        if c.is("[") {
            return Err(
                c.not_supported("an array of arrays", "use one array of rows * columns and index [i * columns + j]")
            );
        }
    }
    if ty.reference && !matches!(ty.base, BaseType::Tensor | BaseType::Auto | BaseType::IntArrayRef) && !ty.constant {
        return Err(c.not_supported("a reference to a number", "use the variable itself"));
    }
    let init = if c.accept("=") {
        Some(if c.is("{") { braces(c)? } else { assignment(c)? })
    } else if c.is("{") {
        let list = braces(c)?;
        Some(if array.is_some() { list } else { only_item(c, list)? })
    } else if c.accept("(") {
        let value = expression(c)?;
        c.expect(")", "after the initial value")?;
        Some(value)
    } else {
        None
    };
    Ok(Declarator { pos, name, ty, array, init })
}

/// The single value in braces; empty braces mean zero. Fails when there are several items.
pub(super) fn only_item(c: &Cursor, list: SyntaxExpr) -> Result<SyntaxExpr, Diagnostic> {
    let pos = list.pos;
    match list.kind {
        SyntaxExprKind::List(items) if items.len() == 1 => {
            items.into_iter().next().ok_or_else(|| c.expected("a value"))
        }
        SyntaxExprKind::List(items) if items.is_empty() => node(pos, SyntaxExprKind::Int(0, crate::types::Scalar::I32)),
        _ => Err(c.expected("one value in the braces")),
    }
}

/// `{a, b, c}`
pub(crate) fn braces(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    c.expect("{", "before the values")?;
    let mut items = Vec::new();
    while !c.is("}") {
        items.push(c.nested(assignment)?);
        if !c.accept(",") {
            break;
        }
    }
    c.expect("}", "after the values")?;
    node(pos, SyntaxExprKind::List(items))
}
