//! What the machine does: the discrete-event simulator of one NeuronCore, the runtime around it, and the numbers it
//! computes.

pub mod gpsimd;
pub mod numerics;
pub mod runtime;
pub mod sim;
