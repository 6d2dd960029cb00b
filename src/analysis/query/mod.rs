//! A small language to ask for slices: filter, group, aggregate, order, limit. docs/query.md has the grammar.

mod error;
mod eval;
mod groups;
mod parser;
mod source;
mod syntax;
mod test;
mod tokens;
mod value;

pub use error::QueryError;
pub use eval::{QueryPass, QueryTable, ask};
pub use parser::parse;
pub use syntax::{Aggregate, Column, Comparator, Condition, Literal, OutputColumn, Query, ValueKind};
pub use value::QueryValue;
