//! A small query language over the slices of a profile: filter, group, aggregate, order, limit. docs/query.md is its
//! grammar.

mod eval;
mod parse;
mod tokens;

pub use eval::{AskRow, AskTable, AskValue, run};
pub use parse::{Aggregate, Column, Comparison, Condition, Field, Query, parse};
