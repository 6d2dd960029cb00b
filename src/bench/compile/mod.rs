//! NeuronPerf's `compile`: the models and options to compile, and the artifacts.

pub(super) mod artifact;
pub(super) mod sweep;
