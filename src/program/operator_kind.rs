//! The kind of work of an operator.

use crate::{Op, Unary};
use ns_base::names;

names! {
    /// The kind of work of an operator, which decides the engine that runs it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperatorKind {
        /// Matrix products, convolutions, attention.
        Product = "product",
        /// Functions such as exponentials and activations.
        Function = "function",
        /// Elementwise sums, products, comparisons and selects.
        Elementwise = "elementwise",
        /// Sums, maxima and others along dimensions.
        Reduction = "reduction",
        /// Norms and softmaxes.
        Norm = "norm",
        /// Windows that slide over an image, as in pooling.
        Window = "window",
        /// Views, transposes, slices, joins, paddings.
        Movement = "movement",
        /// Rows by index, scattered writes.
        Indexing = "indexing",
        /// Sorting and top-k.
        Order = "order",
        /// Arrays without operands: constants, ranges, random numbers.
        Creation = "creation",
        /// Cells that run over a sequence.
        Recurrence = "recurrence",
        /// Conversions to 8-bit numbers and back.
        Quantisation = "quantisation",
        /// Calls, loops, branches, tuples: they are inlined or unrolled when the model is read.
        Control = "control",
        /// Operations between cores.
        Collective = "collective",
    }

    /// Its name in the list of operators.
    pub const fn name(self) -> &'static str;
}

impl OperatorKind {
    /// The kind of an operation of a program; `None` for one without a known meaning.
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
