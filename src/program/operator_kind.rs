//! The kind of work of an operator.

use crate::{Op, Unary};

/// The kind of work of an operator, which decides the engine that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorKind {
    /// Matrix products, convolutions, attention.
    Product,
    /// Functions such as exponentials and activations.
    Function,
    /// Elementwise sums, products, comparisons and selects.
    Elementwise,
    /// Sums, maxima and others along dimensions.
    Reduction,
    /// Norms and softmaxes.
    Norm,
    /// Windows that slide over an image, as in pooling.
    Window,
    /// Views, transposes, slices, joins, paddings.
    Movement,
    /// Rows by index, scattered writes.
    Indexing,
    /// Sorting and top-k.
    Order,
    /// Arrays without operands: constants, ranges, random numbers.
    Creation,
    /// Cells that run over a sequence.
    Recurrence,
    /// Conversions to 8-bit numbers and back.
    Quantisation,
    /// Calls, loops, branches, tuples: they are inlined or unrolled when the model is read.
    Control,
    /// Operations between cores.
    Collective,
}

impl OperatorKind {
    /// All kinds, with their names in the list of operators.
    pub const ALL: [(Self, &str); 14] = [
        (Self::Product, "product"),
        (Self::Function, "function"),
        (Self::Elementwise, "elementwise"),
        (Self::Reduction, "reduction"),
        (Self::Norm, "norm"),
        (Self::Window, "window"),
        (Self::Movement, "movement"),
        (Self::Indexing, "indexing"),
        (Self::Order, "order"),
        (Self::Creation, "creation"),
        (Self::Recurrence, "recurrence"),
        (Self::Quantisation, "quantisation"),
        (Self::Control, "control"),
        (Self::Collective, "collective"),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind of an operation of a program; `None` for one without a known meaning.
    #[must_use]
    pub fn of(op: &Op) -> Option<Self> {
        Some(match op {
            Op::Opaque(_) => return None,
            Op::Unary(f) => match f {
                Unary::Abs | Unary::Neg | Unary::Not | Unary::Square | Unary::Sign | Unary::Real | Unary::Imag => {
                    Self::Elementwise
                }
                Unary::IsNan | Unary::IsInf | Unary::IsFinite | Unary::Clz | Unary::PopulationCount => {
                    Self::Elementwise
                }
                _ => Self::Function,
            },
            Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Clamp | Op::Map => Self::Elementwise,
            Op::Convert | Op::BitcastConvert | Op::ReducePrecision { .. } => Self::Elementwise,
            Op::Dot(_) | Op::Convolution { .. } => Self::Product,
            Op::Reduce { .. } => Self::Reduction,
            Op::ReduceWindow { .. } | Op::SelectAndScatter { .. } => Self::Window,
            Op::BatchNormInference { .. } | Op::BatchNormTraining { .. } | Op::BatchNormGrad { .. } => Self::Norm,
            Op::Gather(_) | Op::Scatter(_) | Op::DynamicSlice { .. } | Op::DynamicUpdateSlice => Self::Indexing,
            Op::Sort { .. } | Op::TopK { .. } => Self::Order,
            Op::Fft { .. } | Op::CustomCall(_) => Self::Function,
            Op::Constant(_) | Op::ElidedConstant | Op::Iota { .. } | Op::Rng { .. } | Op::RngBitGenerator { .. } => {
                Self::Creation
            }
            Op::Collective(_) => Self::Collective,
            Op::Parameter(_) | Op::Tuple | Op::GetTupleElement(_) | Op::Call | Op::While | Op::Conditional => {
                Self::Control
            }
            Op::Barrier | Op::GetDimensionSize { .. } => Self::Control,
            Op::Broadcast { .. } | Op::Reshape | Op::Transpose { .. } | Op::Reverse { .. } => Self::Movement,
            Op::Slice { .. } | Op::Pad { .. } | Op::Concatenate { .. } => Self::Movement,
        })
    }
}
