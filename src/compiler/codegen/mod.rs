//! Code generation: HLO to instruction streams and DMA rings of one NeuronCore.
//!
//! The shape of the code follows profiles of compiled models. Activations are kept feature-major (the last
//! dimension on the partitions), so that one layer's result is the next layer's moving operand without a transpose.
//! A dot is tiled to the array (128 x 128 stationary, 512 moving), accumulates in PSUM and is evicted by its epilogue
//! (bias and activation). Weights come tile by tile on their own queue, as early as SBUF has room. Dependent
//! operations are separated by a wait for the whole producer, as in compiled models, whose code is nearly serial from
//! operation to operation.
//!
//! Functions pass on three things: the plan, which is only read, the places of the values, and the program under
//! construction. A function that does not take one of them does not depend on it. `generate` calls one function for each
//! instruction, and no file uses a file that uses it.

mod chain;
mod charges;
mod code;
mod conv;
mod dot;
mod elementwise;
mod emitter;
mod engines;
mod generate;
mod idioms;
mod layout;
mod lazy;
mod memory;
mod places;
mod plan;
mod precision;
mod product;
mod reduce;
mod rows;
mod sources;
mod spill;
mod tiles;
mod transfer;
mod turn;
mod value;
mod views;
mod weights;
mod work;

pub use generate::{generate, generate_with, modelled_compile_s};
