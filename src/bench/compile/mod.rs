//! NeuronPerf's `compile`: what is compiled, with which options, to which artifacts.

pub(super) mod artifact;
pub(super) mod sweep;
