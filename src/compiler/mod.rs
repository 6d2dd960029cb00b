//! From a graph of aten ops to an executable for a NeuronCore: HLO, lowering, passes, code generation.

mod binding;
pub mod codegen;
pub mod hlo;
mod lowering;
pub mod passes;
mod workflow;

pub use binding::parameter_values;
pub use lowering::{LowerError, lower};
pub use workflow::{UnknownWorkflow, Workflow};
