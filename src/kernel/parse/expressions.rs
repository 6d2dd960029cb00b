//! Expressions, by precedence.

use super::ast::{BaseType, BinaryOp, SyntaxExpr, SyntaxExprKind, TemplateArg, UnaryOp};
use super::cursor::{Cursor, node};
use super::declarations::{braces, only_item};
use super::lexer::TokenKind;
use super::limits::numeric_limits;
use super::templates::called;
use super::type_names::{starts_type, type_name};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::types::Scalar;
use ns_base::convert::f64_to_f32;

/// An expression, or several with commas between them. Fails at the first position that is not valid.
pub(crate) fn expression(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let mut found = assignment(c)?;
    loop {
        let pos = c.pos();
        if !c.accept(",") {
            return Ok(found);
        }
        let next = assignment(c)?;
        found = node(pos, SyntaxExprKind::Comma(Box::new(found), Box::new(next)))?;
    }
}

/// An expression without a comma.
pub(crate) fn assignment(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    c.nested(|c| {
        let target = ternary(c)?;
        let op = match c.here() {
            TokenKind::Sign("=") => None,
            TokenKind::Sign(s) => match compound(s) {
                Some(op) => Some(op),
                None => return Ok(target),
            },
            _ => return Ok(target),
        };
        let pos = c.pos();
        c.next();
        let value = if c.is("{") { braces(c)? } else { assignment(c)? };
        node(pos, SyntaxExprKind::Assign(op, Box::new(target), Box::new(value)))
    })
}

/// The operator of an assignment such as `+=`; `<=` is none.
fn compound(sign: &str) -> Option<BinaryOp> {
    BinaryOp::from_sign(sign.strip_suffix('=')?).filter(|op| !op.compares())
}

fn ternary(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let condition = binary(c, 0)?;
    let pos = c.pos();
    if !c.accept("?") {
        return Ok(condition);
    }
    let yes = assignment(c)?;
    c.expect(":", "between the two values of ? :")?;
    let no = assignment(c)?;
    node(pos, SyntaxExprKind::Ternary(Box::new(condition), Box::new(yes), Box::new(no)))
}

fn binary(c: &mut Cursor, weakest: u8) -> Result<SyntaxExpr, Diagnostic> {
    let mut left = unary(c)?;
    loop {
        let TokenKind::Sign(sign) = *c.here() else { return Ok(left) };
        let Some(op) = BinaryOp::from_sign(sign).filter(|op| op.precedence() > weakest) else { return Ok(left) };
        let pos = c.pos();
        c.next();
        let right = binary(c, op.precedence())?;
        left = node(pos, SyntaxExprKind::Binary(op, Box::new(left), Box::new(right)))?;
    }
}

fn unary(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    let op = match c.here() {
        TokenKind::Sign("+") => UnaryOp::Plus,
        TokenKind::Sign("-") => UnaryOp::Neg,
        TokenKind::Sign("!") => UnaryOp::Not,
        TokenKind::Sign("~") => UnaryOp::BitNot,
        TokenKind::Sign("*") => UnaryOp::Deref,
        TokenKind::Sign("&") => UnaryOp::Address,
        TokenKind::Sign(s @ ("++" | "--")) => {
            let change = if *s == "++" { 1 } else { -1 };
            c.next();
            let target = Box::new(c.nested(unary)?);
            return node(pos, SyntaxExprKind::Step { target, change, after: false });
        }
        TokenKind::Sign("(") if starts_type(c, 1) => return cast(c),
        _ => return postfix(c),
    };
    c.next();
    let operand = c.nested(unary)?;
    node(pos, SyntaxExprKind::Unary(op, Box::new(operand)))
}

/// `(float)x`
fn cast(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    c.next();
    let ty = type_name(c)?;
    c.expect(")", "after the type of the cast")?;
    let operand = c.nested(unary)?;
    node(pos, SyntaxExprKind::Cast(ty, Box::new(operand)))
}

fn postfix(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let mut found = primary(c)?;
    loop {
        let pos = c.pos();
        if c.accept("[") {
            let index = expression(c)?;
            c.expect("]", "after the index")?;
            found = node(found.pos, SyntaxExprKind::Index(Box::new(found), Box::new(index)))?;
        } else if c.is("++") || c.is("--") {
            let change = if c.is("++") { 1 } else { -1 };
            c.next();
            found = node(pos, SyntaxExprKind::Step { target: Box::new(found), change, after: true })?;
        } else if c.accept(".") || c.accept("->") {
            c.accept_word("template");
            let pos = c.pos();
            let name = c.name("the name of a member function")?;
            let template = template_arguments(c, &name)?;
            if !c.is("(") {
                return Err(c.expected(&format!("'(' after .{name}: only member functions are known")));
            }
            let arguments = arguments(c)?;
            found = node(pos, SyntaxExprKind::Method { object: Box::new(found), name, template, arguments })?;
        } else {
            return Ok(found);
        }
    }
}

fn primary(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    match c.here().clone() {
        TokenKind::Int(value, unsigned, long) => {
            c.next();
            let scalar = integer_type(value, unsigned, long);
            node(pos, SyntaxExprKind::Int(value, scalar))
        }
        TokenKind::Float(value, single) => {
            c.next();
            let kind = if single {
                SyntaxExprKind::Float(f64::from(f64_to_f32(value)), Scalar::F32)
            } else {
                SyntaxExprKind::Float(value, Scalar::F64)
            };
            node(pos, kind)
        }
        TokenKind::Text(_) => {
            c.next();
            node(pos, SyntaxExprKind::Text)
        }
        TokenKind::Sign("(") => {
            c.next();
            let inner = expression(c)?;
            c.expect(")", "to close the bracket")?;
            Ok(inner)
        }
        TokenKind::Sign("{") => braces(c),
        TokenKind::Sign("[") => Err(c.not_supported("a lambda", "write a helper function")),
        TokenKind::Word(word) => word_expression(c, &word),
        _ => Err(c.expected("an expression")),
    }
}

/// The type of an integer literal: the first of int, int64_t, size_t that holds it and its suffix allows.
const fn integer_type(value: u64, unsigned: bool, long: bool) -> Scalar {
    match (unsigned, long) {
        (false, false) if value <= i32::MAX as u64 => Scalar::I32,
        (false, _) if value <= i64::MAX as u64 => Scalar::I64,
        (true, false) if value <= u32::MAX as u64 => Scalar::U32,
        _ => Scalar::U64,
    }
}

fn word_expression(c: &mut Cursor, word: &str) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    match word {
        "true" | "false" => {
            c.next();
            return node(pos, SyntaxExprKind::Bool(word == "true"));
        }
        "nullptr" | "NULL" => {
            c.next();
            return node(pos, SyntaxExprKind::Null);
        }
        "sizeof" => return size_of(c),
        "static_cast" | "reinterpret_cast" | "const_cast" => {
            return named_cast(c, pos);
        }
        "new" | "delete" => {
            return Err(c.not_supported(
                &format!("'{word}'"),
                "allocate with torch::neuron::tcm_malloc() and free with tcm_free()",
            ));
        }
        _ => {}
    }
    if starts_type(c, 0) {
        return conversion(c, pos);
    }
    let mut name = c.name("an expression")?;
    while c.accept("::") {
        name = format!("{name}::{}", c.name("a name after ::")?);
    }
    let last = name.rsplit("::").next().unwrap_or("").to_owned();
    if matches!(last.as_str(), "vector" | "array" | "string" | "map" | "function") && name.starts_with("std::") {
        let instead = "use arrays of numbers, or TCM buffers of torch::neuron::tcm_malloc()";
        return Err(Diagnostic::new(pos, Problem::not_supported(&name, instead)));
    }
    if last == "numeric_limits" {
        return numeric_limits(c, pos);
    }
    if c.templates.iter().any(|t| t.name == last) {
        name = template_call(c, &last, pos)?;
    }
    let template = template_arguments(c, &last)?;
    if c.is("(") {
        let arguments = arguments(c)?;
        return node(pos, SyntaxExprKind::Call { name, template, arguments });
    }
    node(pos, SyntaxExprKind::Name(name))
}

/// `static_cast<float>(x)`
fn named_cast(c: &mut Cursor, pos: Pos) -> Result<SyntaxExpr, Diagnostic> {
    c.next();
    c.expect("<", "after the cast")?;
    let ty = type_name(c)?;
    c.expect(">", "after the type of the cast")?;
    c.expect("(", "before the value of the cast")?;
    let value = expression(c)?;
    c.expect(")", "after the value of the cast")?;
    node(pos, SyntaxExprKind::Cast(ty, Box::new(value)))
}

/// `float(x)`, `float{x}`
fn conversion(c: &mut Cursor, pos: Pos) -> Result<SyntaxExpr, Diagnostic> {
    let ty = type_name(c)?;
    if c.is("{") {
        let list = braces(c)?;
        let value = only_item(c, list)?;
        return node(pos, SyntaxExprKind::Cast(ty, Box::new(value)));
    }
    c.expect("(", "after the type, for a conversion")?;
    let value = expression(c)?;
    c.expect(")", "after the value of the conversion")?;
    node(pos, SyntaxExprKind::Cast(ty, Box::new(value)))
}

/// `<float>` after the name of a template; the name of the function for that type.
fn template_call(c: &mut Cursor, name: &str, pos: Pos) -> Result<String, Diagnostic> {
    let refuse = || {
        let what = format!("a call of the template '{name}' without its type");
        Err(Diagnostic::new(pos, Problem::not_supported(&what, &format!("write {name}<float>(...)"))))
    };
    if !c.accept("<") {
        return refuse();
    }
    let BaseType::Scalar(of) = type_name(c)?.base else { return refuse() };
    c.expect(">", "after the template's type")?;
    called(c, name, of)
}

fn size_of(c: &mut Cursor) -> Result<SyntaxExpr, Diagnostic> {
    let pos = c.pos();
    c.next();
    if !c.is("(") || !starts_type(c, 1) {
        let value = c.nested(unary)?;
        return node(pos, SyntaxExprKind::SizeOfValue(Box::new(value)));
    }
    c.next();
    let ty = type_name(c)?;
    c.expect(")", "after sizeof(type")?;
    node(pos, SyntaxExprKind::SizeOf(ty))
}

/// `<float, 2>` after names that take template arguments; elsewhere `<` is a comparison.
fn template_arguments(c: &mut Cursor, name: &str) -> Result<Vec<TemplateArg>, Diagnostic> {
    let takes = matches!(
        name,
        "accessor"
            | "packed_accessor32"
            | "read_stream_accessor"
            | "write_stream_accessor"
            | "tensor_to_tcm"
            | "tcm_to_tensor"
            | "data_ptr"
            | "item"
    ) || (matches!(name, "max" | "min") && c.is("<") && starts_type(c, 1));
    let mut found = Vec::new();
    if !takes || !c.accept("<") {
        return Ok(found);
    }
    loop {
        if let TokenKind::Int(value, ..) = *c.here() {
            c.next();
            found.push(TemplateArg::Int(value));
        } else {
            found.push(TemplateArg::Type(type_name(c)?));
        }
        if !c.accept(",") {
            break;
        }
    }
    c.expect(">", "after the template arguments")?;
    Ok(found)
}

fn arguments(c: &mut Cursor) -> Result<Vec<SyntaxExpr>, Diagnostic> {
    c.expect("(", "before the arguments")?;
    let mut found = Vec::new();
    if c.accept(")") {
        return Ok(found);
    }
    loop {
        found.push(assignment(c)?);
        if !c.accept(",") {
            break;
        }
    }
    c.expect(")", "after the arguments")?;
    Ok(found)
}
