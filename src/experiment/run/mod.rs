//! Running experiments: the suites' models, and records of what was measured or simulated.

mod suite;

pub use suite::{Suite, SuiteModel, UnknownModel};
