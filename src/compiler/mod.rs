//! From a graph of aten ops to an executable for a NeuronCore: HLO, lowering, passes, code generation.

pub mod codegen;
pub mod hlo;
mod workflow;

pub use workflow::Workflow;
