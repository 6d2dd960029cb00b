//! `NEURON_LIBRARY(my_ops, m) { m.def("relu_forward", &relu_fwd_shape, "relu_forward"); }`: which shape function belongs to which kernel.

use super::cursor::Cursor;
use super::lexer::{Token, TokenKind};
use crate::problem::{Diagnostic, Pos};

/// One `m.def(...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    /// The name of the shape function, and its place.
    pub shape: String,
    pub pos: Pos,
    /// The name of the kernel function.
    pub kernel: String,
}

/// The tokens outside the macro, and what the macro registers. Fails when the macro holds something other than registrations: the
/// diagnostic has its position.
pub(super) fn split(tokens: Vec<Token>) -> Result<(Vec<Token>, Vec<Registration>), Diagnostic> {
    let is_macro = |token: &Token| token.kind == TokenKind::Word("NEURON_LIBRARY".to_owned());
    let Some(start) = tokens.iter().position(is_macro) else { return Ok((tokens, Vec::new())) };
    let (before, from) = tokens.split_at(start);
    let mut c = Cursor::new(from.to_vec());
    let registrations = library(&mut c)?;
    let after = from.get(c.mark()..).unwrap_or_default();
    Ok(([before, after].concat(), registrations))
}

fn library(c: &mut Cursor) -> Result<Vec<Registration>, Diagnostic> {
    c.next();
    c.expect("(", "after NEURON_LIBRARY")?;
    c.name("the name of the library")?;
    c.expect(",", "after the library's name")?;
    let module = c.name("a name for the library in its braces, such as m")?;
    c.expect(")", "after that name")?;
    c.expect("{", "after NEURON_LIBRARY(...)")?;
    let mut registrations = Vec::new();
    while !c.accept("}") {
        if !c.accept_word(&module) {
            return Err(c.expected(&format!("{module}.def(\"operator\", &shape_function, \"kernel_function\");")));
        }
        registrations.push(definition(c)?);
    }
    Ok(registrations)
}

/// The rest of `m.def("operator", &shape_function, "kernel_function");`. Without its third part, the kernel has the operator's name.
fn definition(c: &mut Cursor) -> Result<Registration, Diagnostic> {
    c.expect(".", "after the library's name")?;
    if !c.accept_word("def") {
        return Err(c.expected("def"));
    }
    c.expect("(", "after def")?;
    let operator = text(c, "the operator's name in quotes")?;
    c.expect(",", "after the operator's name")?;
    c.accept("&");
    let pos = c.pos();
    let shape = c.name("the name of a shape function")?;
    let kernel = if c.accept(",") { text(c, "the kernel function's name in quotes")? } else { operator };
    c.expect(")", "after the arguments of def")?;
    c.expect(";", "after def(...)")?;
    Ok(Registration { shape, pos, kernel })
}

fn text(c: &mut Cursor, what: &str) -> Result<String, Diagnostic> {
    let TokenKind::Text(text) = c.here().clone() else { return Err(c.expected(what)) };
    c.next();
    Ok(text)
}
