//! A small language to ask for slices: filter, group, aggregate, order, limit. docs/query.md has the grammar.

mod eval;
mod parser;
mod syntax;
mod tokens;

pub use eval::{QueryPass, QueryTable, QueryValue, ask};
pub use parser::parse;
pub use syntax::{Aggregate, Column, Comparison, Condition, Literal, Query, Selected, ValueKind};
pub use tokens::QueryError;
