//! Names for types (`using T = float;`, `typedef float T;`) and function templates with one type, which are read again for
//! every type with which they are called.

use super::ast::{BaseType, Item, TypeName};
use super::cursor::Cursor;
use super::declarations::function;
use super::type_names::type_name;
use crate::problem::Diagnostic;
use crate::types::Scalar;

/// Most functions that are made from templates.
const MAX_MADE: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Name of the function.
    pub name: String,
    /// Name of its type.
    parameter: String,
    /// Where its result's type begins.
    mark: usize,
}

/// `typedef float T;`. Fails when the type is not a number.
pub(super) fn typedef(c: &mut Cursor) -> Result<(), Diagnostic> {
    c.next();
    let ty = type_name(c)?;
    let name = c.name("the name of the type")?;
    alias(c, name, &ty)?;
    c.expect(";", "after typedef")
}

/// `using namespace x;` and `using x::y;` have no effect here, because names are found by their last part; `using T = float;` names
/// a type. Fails when a type is named that is not a number, or the semicolon is missing.
pub(super) fn using(c: &mut Cursor) -> Result<(), Diagnostic> {
    c.next();
    if c.is_ahead(1, "=") {
        let name = c.name("the name of the type")?;
        c.next();
        let ty = type_name(c)?;
        alias(c, name, &ty)?;
    }
    while !c.is(";") {
        if *c.here() == super::lexer::TokenKind::End {
            return Err(c.expected("';' after using"));
        }
        c.next();
    }
    c.expect(";", "after using")
}

fn alias(c: &mut Cursor, name: String, ty: &TypeName) -> Result<(), Diagnostic> {
    match ty.base {
        BaseType::Scalar(scalar) if !ty.pointer && !ty.reference => {
            c.aliases.push((name, scalar));
            Ok(())
        }
        _ => Err(c.not_supported("a name for a type that is not a number", "write the type itself")),
    }
}

/// `template <typename T> T twice(T x) { ... }`. Fails when it has parameters other than one type, or its function does not parse
/// with a number type in its place.
pub(super) fn template(c: &mut Cursor) -> Result<(), Diagnostic> {
    c.next();
    c.expect("<", "after template")?;
    if !c.accept_word("typename") && !c.accept_word("class") {
        return Err(c.not_supported("a template of values", "pass the value as an argument"));
    }
    let parameter = c.name("the name of the type")?;
    if c.is(",") {
        return Err(c.not_supported("a template of several types", "write a template of one type"));
    }
    c.expect(">", "after the type's name")?;
    let mark = c.mark();
    let asked = c.made.len();
    // Calls in its body do not count until the template itself is called.
    read(c, Template { name: String::new(), parameter, mark }, Scalar::F32, true)?;
    c.made.truncate(asked);
    Ok(())
}

/// Records that a template is called with a type; returns the name of that function. Fails when too many functions are made from
/// templates.
pub(super) fn called(c: &mut Cursor, name: &str, of: Scalar) -> Result<String, Diagnostic> {
    let made = (name.to_owned(), of);
    if !c.made.contains(&made) {
        if c.made.len() >= MAX_MADE {
            return Err(c.not_supported("more than 64 functions of templates", "call them with fewer types"));
        }
        c.made.push(made);
    }
    Ok(made_name(name, of))
}

fn made_name(name: &str, of: Scalar) -> String {
    format!("{name}<{}>", of.name())
}

/// The functions requested by calls, including those that their bodies call. Fails when one does not parse with its type.
pub(super) fn make(c: &mut Cursor, items: &mut Vec<Item>) -> Result<(), Diagnostic> {
    let mut next = 0;
    while let Some((name, of)) = c.made.get(next).cloned() {
        next += 1;
        let Some(template) = c.templates.iter().find(|t| t.name == name).cloned() else { continue };
        items.extend(read(c, template, of, false)?);
    }
    Ok(())
}

/// Reads a template's function with a type in place of its parameter.
fn read(c: &mut Cursor, template: Template, of: Scalar, register: bool) -> Result<Option<Item>, Diagnostic> {
    c.reset(template.mark);
    c.aliases.push((template.parameter.clone(), of));
    let ty = type_name(c)?;
    let name = c.name("the name of the function")?;
    if register {
        c.templates.push(Template { name: name.clone(), ..template });
    }
    let mut items = Vec::new();
    function(c, ty, made_name(&name, of), &mut items)?;
    c.aliases.pop();
    Ok(items.pop())
}

#[cfg(test)]
mod tests {
    use crate::compile;

    fn outcome(source: &str) -> String {
        compile(source).map_or_else(|d| format!("{} {}", d[0].problem.code(), d[0].pos), |_| "fine".to_owned())
    }

    #[test]
    fn types_have_names() {
        for fine in [
            "using T = float; T f(T x) { T y = x; return (T)2 * y + T(1); }",
            "typedef unsigned char byte_t; int f(byte_t x) { using I = int; I y = x; return y; }",
            "template <typename T> T twice(T x) { return x + x; } float f(float x) { return twice<float>(x) + twice<int>(2); }",
            "template <class T> T a(T x) { return x; } template <class T> T b(T x) { return a<T>(x); } int f() { return b<int>(1); }",
            "template <typename T> T unused(T x) { return x; } int f(int T) { return T; }",
        ] {
            assert_eq!(outcome(fine), "fine", "{fine}");
        }
        for (wrong, expected) in [
            ("using P = float*;", "not_supported 1:17"),
            ("template <int N> int f() { return N; }", "not_supported 1:11"),
            ("template <typename T, typename U> int f(T x, U y) { return 1; }", "not_supported 1:21"),
            (
                "template <typename T> T twice(T x) { return x + x; } float f(float x) { return twice(x); }",
                "not_supported 1:80",
            ),
            (
                "template <typename T> T rem(T x) { return x % 2; } float f(float x) { return rem<float>(x); }",
                "type 1:43",
            ),
            ("template <typename T> T f(T x) { return y; } int g() { return f<int>(1); }", "unknown_name 1:41"),
            ("template <typename T> struct S { };", "not_supported 1:23"),
        ] {
            assert_eq!(outcome(wrong), expected, "{wrong}");
        }
    }
}
