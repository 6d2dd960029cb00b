//! Code generation: HLO to instruction streams and DMA rings of one NeuronCore.
//!
//! The shape of the code follows what profiles of compiled models show. Activations are kept feature-major (the last
//! dimension on the partitions), so that one layer's result is the next layer's moving operand without a transpose.
//! A dot is tiled to the array (128 x 128 stationary, 512 moving), accumulates in PSUM and is evicted by its epilogue
//! (bias and activation). Weights come tile by tile on their own queue, as early as SBUF has room. Dependent
//! operations are separated by a wait for the whole producer, as in compiled models, whose code is nearly serial from
//! operation to operation.

mod conv;
mod dot;
mod elementwise;
mod emitter;
mod error;
mod idioms;
mod layout;
mod lazy;
mod memory;

mod precision;
mod product;
mod program;
mod reduce;
mod room;
mod rows;
mod sources;
mod spill;
mod tiles;
mod transfer;
mod value;
mod views;
mod work;

pub use error::CodegenError;
pub use program::{generate, generate_with};
