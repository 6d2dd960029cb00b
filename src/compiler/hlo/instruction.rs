//! One HLO instruction.

use serde::{Deserialize, Serialize};

use super::Opcode;
use crate::define_idx;
use crate::tensor::Shape;

define_idx! {
    /// An instruction of one [`super::HloModule`].
    pub struct InstrId;
}

/// Where an instruction came from: the spine that makes framework view, HLO view and timeline one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpMetadata {
    /// The framework op with the HLO opcode, as profiles show it: `aten__addmm_dot`.
    pub op_type: String,
    /// The full path: `NN[model]/Linear[layer1]/aten__addmm_dot`.
    pub op_name: String,
}

/// One instruction of a computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HloInstruction {
    /// Unique name without the percent sign: `dot`, `transpose.1`, `p4`, `fused_3`.
    pub name: String,
    /// What it does.
    pub opcode: Opcode,
    /// What it reads, in order.
    pub operands: Vec<InstrId>,
    /// What it gives.
    pub shape: Shape,
    /// Where it came from.
    pub metadata: OpMetadata,
}
