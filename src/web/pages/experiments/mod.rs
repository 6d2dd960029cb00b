//! The page of experiments: records of PyTorch/XLA's benchmark suite, read and compared in a worker.

mod actions;
mod controls;
mod page;

pub use actions::read_files;
pub use page::ExperimentsPage;
