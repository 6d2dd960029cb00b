//! neuronscope: a benchmark and profile explorer for AWS NeuronCores.
pub mod base;
pub mod capture;
pub mod bench;
pub mod compiler;
pub mod machine;
pub mod tensor;
pub mod profile;
pub mod machine;
pub mod view;
pub mod compiler;
pub mod machine;
pub mod neuron;
pub mod profile;
pub mod session;
pub mod tensor;
pub mod view;
