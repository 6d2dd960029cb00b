//! Where an operator is placed: which part of a NeuronCore does its kind of work, and how one without a rule of its own is placed.

use serde::{Deserialize, Serialize};

use crate::import::OperatorKind;

/// How an operator without a rule of its own is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stand {
    /// One pass of the vector engine over the larger of operands and result.
    Elementwise,
    /// Bytes out to device memory and back.
    Move,
    /// Passes of the GpSimd engine, as many as the logarithm of the elements.
    Sort,
}

impl Stand {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Elementwise, Self::Move, Self::Sort];

    /// Its name in settings and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elementwise => "elementwise",
            Self::Move => "move",
            Self::Sort => "sort",
        }
    }

    /// The one of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stand| stand.name().eq_ignore_ascii_case(name.trim()))
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        let [a, b, c] = Self::ALL.map(Self::name);
        format!("{a}, {b} or {c}")
    }
}

/// Which part of a NeuronCore does a kind of work, in words. What an operator makes of it, a profile shows.
#[must_use]
pub const fn engine_of(kind: OperatorKind) -> &'static str {
    match kind {
        OperatorKind::Product => "tensor engine",
        OperatorKind::Function => "scalar engine",
        OperatorKind::Elementwise | OperatorKind::Reduction | OperatorKind::Quantisation => "vector engine",
        OperatorKind::Norm => "vector and scalar engines",
        OperatorKind::Window => "vector engine, a pass for each element of the window",
        OperatorKind::Movement => "views are free; else DMA, or the tensor engine for a turn",
        OperatorKind::Indexing => "DMA, a descriptor for each row",
        OperatorKind::Order => "GpSimd engine",
        OperatorKind::Creation => "computed when the model is loaded; random numbers on the vector engine",
        OperatorKind::Recurrence => "tensor, vector and scalar engines, each step written out",
        OperatorKind::Control => "written out when the model is read",
        OperatorKind::Collective => "DMA through device memory",
    }
}
