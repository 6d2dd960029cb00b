//! The page of experiments: records of PyTorch/XLA's benchmark suite, read or made by a run, and compared in a worker.

mod actions;
mod controls;
mod page;
mod run;

pub use actions::read_files;
pub use page::ExperimentsPage;
