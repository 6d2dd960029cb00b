//! HLO: the intermediate representation between the framework's graph and a NeuronCore's instructions.

mod elementwise;
mod eval;
mod infer;
mod module;
mod opcode;
pub mod text;
mod verify;

pub use elementwise::Elementwise;
pub use eval::{Arithmetic, Evaluation, NoWatch, Place, Reference, Watch, evaluate};
pub use module::{HloInstruction, HloModule, InstrId, OpMetadata};
pub use opcode::{DotDims, FusionBody, Literal, Opcode, ParameterRole, ReduceKind, Work, WorkKind};
pub use text::{expressions, print};
pub use verify::verify;
