//! neuronscope: a benchmark and profile explorer for AWS NeuronCores.
pub mod base;
pub mod profile;
