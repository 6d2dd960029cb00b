//! Source text to a syntax tree: the C++ in which custom operators are written, and an error message for anything
//! outside it.

pub(crate) mod ast;
mod cursor;
mod declarations;
mod expressions;
mod lexer;
mod limits;
mod preprocessor;
mod quoted;
mod statements;
mod templates;
mod type_names;

pub use lexer::MAX_SOURCE_BYTES;

use crate::problem::Diagnostic;

/// Reads a source file.
///
/// # Errors
/// At the first position that is not valid in the language.
pub(crate) fn parse(source: &str) -> Result<Vec<ast::Item>, Diagnostic> {
    let mut cursor = cursor::Cursor::new(lexer::tokens(source)?);
    declarations::file(&mut cursor)
}
