//! Source text to a syntax tree: the C++ in which custom operators are written, and an error message for anything
//! outside it.

pub(crate) mod ast;
mod cursor;
mod declarations;
mod expressions;
mod lexer;
mod limits;
mod preprocessor;
mod quotes;
mod registration;
mod statements;
mod templates;
mod type_names;

pub use lexer::MAX_SOURCE_BYTES;
pub(crate) use registration::Registration;

use crate::problem::Diagnostic;

/// Reads a source file. Fails at the first position that is not valid in the language.
pub(crate) fn parse(source: &str) -> Result<Vec<ast::Item>, Diagnostic> {
    let mut cursor = cursor::Cursor::new(lexer::tokens(source)?);
    declarations::file(&mut cursor)
}

/// Reads a file of shape functions, and the macro in it that registers them. Fails at the first position that is not valid in the
/// language, or is not a registration in the macro.
pub(crate) fn parse_shapes(source: &str) -> Result<(Vec<ast::Item>, Vec<Registration>), Diagnostic> {
    let (rest, registrations) = registration::split(lexer::tokens(source)?)?;
    Ok((declarations::file(&mut cursor::Cursor::new(rest))?, registrations))
}
