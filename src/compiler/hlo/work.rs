//! Operations of which the code generator knows the cost alone.

use serde::{Deserialize, Serialize};

/// What does an operation of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkKind {
    /// Passes of the vector engine over the elements.
    Vector,
    /// Passes of the GpSimd engine over the elements.
    GpSimd,
    /// Elements that are written to device memory and read back in another order, one descriptor for each row.
    Move,
}

/// An operation of which the cost is known and the values are not: a sort, a scatter, an operator without a known meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Its name: HLO's opcode, or the operator's in its framework.
    pub name: String,
    /// What does it.
    pub kind: WorkKind,
    /// Elements that are worked on in one pass.
    pub elements: u64,
    /// Passes over them.
    pub passes: u32,
}
