//! Passes over HLO: each rewrites a module, is verified, and says what it changed.

mod cse;
mod dce;
mod fold_transposes;
mod fusion;
mod manager;
mod rewrite;
mod simplify;
mod views;

pub use cse::CommonSubexpressions;
pub use dce::DeadCode;
pub use fold_transposes::FoldTransposes;
pub use fusion::Fusion;
pub use manager::{Changes, Pass, PassLog, PassManager, PassRecord, optimize};
pub use simplify::Simplify;
pub use views::Views;
