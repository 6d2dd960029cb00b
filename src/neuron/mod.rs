//! A simulated NeuronCore: the discrete-event simulator, the runtime around it, and the numbers that the core
//! computes.

pub mod gpsimd;
pub mod numerics;
pub mod runtime;
pub mod sim;
