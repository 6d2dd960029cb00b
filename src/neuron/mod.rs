//! What the machine does: the discrete-event simulator of one NeuronCore, and the runtime around it.

pub mod runtime;
pub mod sim;
