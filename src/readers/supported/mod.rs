//! The operators that each reader supports.
//!
//! A reader looks its operators up in tables, one for each family: `pub const OPS: &[(&str, OperatorKind, Translate)]`. A row has the
//! operator's name as the file writes it (after one function that removes prefixes and suffixes, if there are any), its kind of work, and
//! the function that translates it. The reader's function `operators` gives names and kinds of all rows:
//!
//! `pub fn operators() -> impl Iterator<Item = (&'static str, OperatorKind)>`
//!
//! `supported_operators` joins what the readers give; order and duplicates do not matter there.

mod operators;
#[cfg(test)]
mod tests;

pub use operators::{SUPPORTED_FORMATS, SupportedOperator, supported_operators};
