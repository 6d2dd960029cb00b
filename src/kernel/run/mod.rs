//! Executes a kernel for its values, one processor after another, in parts of a given number of statements.

mod elementwise;
mod expressions;
mod interface;
mod machine;
mod memory;
mod parts;
mod statements;
mod streams;
mod tensor;
mod work;

pub use machine::{Outcome, RunOptions};
pub use parts::{KernelRun, run};
pub use tensor::HbmTensor;
pub use work::{Meter, Work};
