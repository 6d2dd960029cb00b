//! The operators that each reader knows.
//!
//! `operators.tsv` is made from the readers: a test asks each reader for every name that its own source holds (of aten operators for every
//! name that torch has), and fails when the list is not what they answer (`UPDATE_DOCS=1 cargo test --lib import::supported` writes it).
//! So the list says what the readers do, and a program that shows the list does not have to contain the readers.

mod operators;
#[cfg(test)]
mod tests;

pub use operators::{OperatorKind, SUPPORTED_FORMATS, SupportedOperator, supported_operators};
