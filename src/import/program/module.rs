//! A program: computations, the entry among them.

use serde::{Deserialize, Serialize};

use super::{ArrayType, Op, Type, Value};
use crate::base::IndexVec;
use crate::define_idx;

define_idx! {
    /// A computation of one [`Program`].
    pub struct ComputationId;
}

define_idx! {
    /// An instruction of one [`Computation`].
    pub struct InstructionId;
}

/// Where an instruction came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The operator in its framework, `aten::linear`, `Gemm`; empty when not known.
    pub op: String,
    /// The module it was called in: `NN[model]/Linear[layer1]`; empty when not known.
    pub scope: String,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its name, unique in its computation.
    pub name: String,
    /// What it does.
    pub op: Op,
    /// What it reads; all come before it in its computation.
    pub operands: Vec<InstructionId>,
    /// Computations it calls, in the order the operation says.
    pub called: Vec<ComputationId>,
    /// What it gives.
    pub ty: Type,
    /// Where it came from.
    pub origin: Origin,
}

/// Instructions in an order in which operands come before their users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub instructions: IndexVec<InstructionId, Instruction>,
    /// The one that is the result.
    pub root: InstructionId,
}

/// What feeds a parameter of the entry computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A caller, on every call.
    Input,
    /// A weight that is trained.
    Weight,
    /// A buffer or a constant that comes with the model.
    Buffer,
}

/// Numbers of a weight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WeightData {
    /// The file does not hold them.
    #[default]
    Absent,
    /// They lie in the file as little-endian numbers.
    InFile {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
        /// Distance between neighbours of each dimension, in elements; empty for row-major order.
        strides: Vec<i64>,
    },
    /// The reader has them.
    Held(Box<Value>),
}

/// A parameter of the entry computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramParameter {
    /// Its name: that of an input, or the dotted path of a weight.
    pub name: String,
    /// What feeds it.
    pub role: Role,
    /// Element type and sizes.
    pub ty: ArrayType,
    /// Its numbers, when it is a weight.
    pub data: WeightData,
}

/// Computations of operations with XLA's meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// All computations; those that are called come before their callers.
    pub computations: IndexVec<ComputationId, Computation>,
    /// Where it begins.
    pub entry: ComputationId,
    /// Parameters of the entry, by number. Each is an array.
    pub parameters: Vec<ProgramParameter>,
}
