//! HLO: the intermediate representation between the framework's graph and a NeuronCore's instructions.

mod infer;
mod instruction;
mod module;
mod opcode;
mod verify;

pub use instruction::{HloInstruction, InstrId, OpMetadata};
pub use module::HloModule;
pub use opcode::{DotDims, FusionBody, Literal, Opcode, ParameterRole, ReduceKind};
pub use verify::{VerifyError, verify};
