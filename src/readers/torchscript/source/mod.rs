//! TorchScript's source: the part of Python that `torch.jit.save` prints.

mod cursor;
mod expressions;
mod lexer;
mod live;
mod parse;
mod tree;

pub use live::{dead_statements, is_only_for, turns_numbers_back};
pub use parse::parse;
pub use tree::{Class, Expression, PythonOperator, ScriptFunction, SourceFile, Statement, StatementKind, Target};
