//! Execution of a kernel for its values, one processor after another.

mod expressions;
mod interface;
mod machine;
mod memory;
mod report;
mod statements;
mod streams;
mod tensor;
mod work;

pub use machine::{Outcome, RunOptions, run};
pub use tensor::HbmTensor;
pub use work::{Meter, Work};
