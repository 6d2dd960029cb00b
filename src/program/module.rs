//! A program: its computations, including the entry.

use serde::{Deserialize, Serialize};

use super::{ArrayType, Op, Type, Value};
use ns_base::IndexVec;
use ns_base::define_idx;

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
    pub op: Op,
    /// Its operands; all come before it in its computation.
    pub operands: Vec<InstructionId>,
    /// Computations that it calls, in the order that the operation defines.
    pub called: Vec<ComputationId>,
    /// The type of its result.
    pub ty: Type,
    /// Where it came from.
    pub origin: Origin,
}

/// Instructions in an order in which operands come before their users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Computation {
    pub name: String,
    pub instructions: IndexVec<InstructionId, Instruction>,
    /// The instruction whose result is the computation's result.
    pub root: InstructionId,
}

/// Where the value of an entry parameter comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The caller, on every call.
    Input,
    /// A weight that is trained.
    Weight,
    /// A buffer or a constant that comes with the model.
    Buffer,
}

/// Numbers in a file beside that of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataBeside {
    /// The file as the model names it, from its own folder.
    pub file: String,
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// Numbers of a weight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WeightData {
    /// The file does not hold the numbers.
    #[default]
    Absent,
    /// The numbers lie in the file, little-endian.
    InFile {
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
        /// Distance between neighbours along each dimension, in elements; empty for row-major order.
        strides: Vec<i64>,
    },
    /// The reader has the numbers in memory.
    Inline(Box<Value>),
    /// The numbers lie in another file, little-endian in row-major order.
    Beside(DataBeside),
}

/// A parameter of the entry computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramParameter {
    /// Its name: the name of an input, or the dotted path of a weight.
    pub name: String,
    /// Where its value comes from.
    pub role: Role,
    /// Element type and sizes.
    pub ty: ArrayType,
    /// Its numbers, if it is a weight.
    pub data: WeightData,
}

/// A program: computations of operations with XLA's meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    /// All computations; those that are called come before their callers.
    pub computations: IndexVec<ComputationId, Computation>,
    pub entry: ComputationId,
    /// Parameters of the entry, by number. Each is an array.
    pub parameters: Vec<ProgramParameter>,
}

impl Program {
    /// The type of its result: the root of its entry.
    pub fn result_type(&self) -> &Type {
        let entry = &self.computations[self.entry];
        &entry.instructions[entry.root].ty
    }
}
