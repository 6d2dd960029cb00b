//! HLO: the intermediate representation between the framework's graph and a NeuronCore's instructions.

mod elementwise;
mod eval;
mod infer;
mod instruction;
mod module;
mod opcode;
pub mod text;
mod verify;
mod work;

pub use elementwise::Elementwise;
pub use eval::{Arithmetic, EvalError, Evaluation, Place, Reference, Unwatched, Watch, evaluate};
pub use instruction::{HloInstruction, InstrId, OpMetadata};
pub use module::HloModule;
pub use opcode::{DotDims, FusionBody, Literal, Opcode, ParameterRole, ReduceKind};
pub use text::{ParseError, expressions, parse, print};
pub use verify::{VerifyError, verify};
pub use work::{Work, WorkKind};
