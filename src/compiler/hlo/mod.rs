//! HLO: the intermediate representation between the framework's graph and a NeuronCore's instructions.

mod instruction;
mod module;
mod opcode;

pub use instruction::{HloInstruction, InstrId, OpMetadata};
pub use module::HloModule;
pub use opcode::{DotDims, FusionBody, Literal, Opcode, ParameterRole, ReduceKind};
