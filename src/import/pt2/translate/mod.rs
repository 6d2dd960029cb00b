//! From aten operations to a program.
//!
//! The types of all values are in the file, so that each operation is made to give the type the file says. An operation that is
//! not known, or used in a way that is not known, becomes opaque with its result types and is listed.

mod arrange;
mod attention;
mod binary;
mod call;
mod create;
mod families;
mod finish;
mod index;
mod mutate;
mod norm;
mod pool;
mod product;
mod recurrent;
mod reduce;
mod run;
mod shape;
mod signature;
mod unary;
mod views;

pub use run::translate;
pub use signature::{input_kind, scope_of};
