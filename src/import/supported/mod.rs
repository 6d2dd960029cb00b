//! The operators that each reader supports.
//!
//! `operators.tsv` is made from the readers: a test asks each reader about every name in its own source (for aten operators, about every
//! name in torch), and fails if the list differs from the answers (`UPDATE_DOCS=1 cargo test --lib import::supported` writes it).
//! The list therefore says what the readers do, and a program that shows the list does not have to contain the readers.

mod operators;
#[cfg(test)]
mod tests;

pub use operators::{OperatorKind, SUPPORTED_FORMATS, SupportedOperator, supported_operators};
