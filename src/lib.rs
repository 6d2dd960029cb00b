//! neuronscope: a benchmark and profile explorer for AWS NeuronCores.
pub mod base;
pub mod compiler;
pub mod machine;
pub mod model;
pub mod tensor;
