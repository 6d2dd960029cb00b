//! Where an operator is placed: the part of a NeuronCore that does its kind of work, and the placement of an operator without a
//! rule of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

use ns_kernel::is_own_kernel;
use ns_program::OperatorKind;

/// How an operator without a rule of its own is placed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnknownOpPolicy {
    /// One pass of the vector engine over the larger of operands and result.
    Elementwise,
    /// Bytes out to device memory and back.
    Move,
    /// As many passes of the GpSimd engine as the logarithm of the number of elements.
    Sort,
    /// The user's kernel on the GPSIMD processors: the text of a [`NamedKernel`](ns_kernel::NamedKernel).
    Kernel(Box<str>),
}

impl UnknownOpPolicy {
    /// Places that a name alone stands for.
    pub const ALL: [Self; 3] = [Self::Elementwise, Self::Move, Self::Sort];

    /// Its name in settings and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Elementwise => "elementwise",
            Self::Move => "move",
            Self::Sort => "sort",
            Self::Kernel(_) => "kernel",
        }
    }

    /// The placement with this name, or the user's own kernel with this text, which is checked when it is compiled.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        let named = Self::ALL.into_iter().find(|policy| policy.name().eq_ignore_ascii_case(name));
        named.or_else(|| is_own_kernel(name).then(|| Self::Kernel(name.into())))
    }

    /// All names, for messages.
    pub fn names() -> String {
        let [a, b, c] = Self::ALL.map(|policy| policy.name());
        format!("{a}, {b} or {c}, or a kernel (FILE.cpp or build.py)")
    }
}

/// The text in settings, which [`UnknownOpPolicy::from_name`] reads.
impl fmt::Display for UnknownOpPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(text) => f.write_str(text),
            named => f.write_str(named.name()),
        }
    }
}

/// The part of a NeuronCore that does a kind of work, in words. A profile shows how an operator was actually placed.
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
