//! The operation of an HLO instruction.

use super::{Elementwise, InstrId};
use ns_tensor::kernels::{SliceDim, WindowDim};
use serde::{Deserialize, Serialize};

/// The source of a parameter of the entry computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterRole {
    /// The `n`-th example input of the model: transferred on every call under `mark_step`.
    Input(u32),
    /// A weight or bias, by its path in the module tree (`layer1.weight`).
    Weight(String),
}

/// Contracted dimensions of a dot: one of each side, after equal leading batch dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DotDims {
    /// Leading dimensions shared by both sides and the result.
    pub batch: u32,
    /// Contracted dimension of the left side.
    pub lhs_contracting: u32,
    /// Contracted dimension of the right side.
    pub rhs_contracting: u32,
}

/// A constant: every element has this value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Literal(pub f32);

/// How a reduction combines elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReduceKind {
    /// Sum, ascending.
    Sum,
    /// Maximum.
    Max,
    /// Minimum.
    Min,
    Product,
}

/// The members of a fusion, in order of execution. The last one is the root: it gives the fusion its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusionBody {
    /// Member instructions. An operand that is not a member is an operand of the fusion, named by the module's id.
    pub members: Vec<super::HloInstruction>,
    /// The members' ids, parallel to `members`. They are unique in the module and lie beyond the ids of its instructions,
    /// so that an operand's id says by itself whether it is a member.
    pub ids: Vec<InstrId>,
}

/// Operation of an instruction, with its attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Opcode {
    /// An input or weight of the computation.
    Parameter {
        /// Position among the parameters: `%p4` has index 4.
        index: u32,
        role: ParameterRole,
    },
    Constant(Literal),
    /// Matrix product.
    Dot(DotDims),
    /// Permutes dimensions: result dimension `i` is operand dimension `permutation[i]`.
    Transpose {
        permutation: Vec<u32>,
    },
    /// Repeats an operand: operand dimension `i` becomes result dimension `dimensions[i]`.
    Broadcast {
        /// The result's dimension for each operand dimension.
        dimensions: Vec<u32>,
    },
    /// Same elements, other dimensions.
    Reshape,
    /// Changes the element type.
    Convert,
    /// Elementwise sum.
    Add,
    /// Elementwise difference.
    Subtract,
    /// Elementwise product.
    Multiply,
    /// Elementwise quotient.
    Divide,
    /// Elementwise maximum.
    Maximum,
    /// Elementwise minimum.
    Minimum,
    /// Elementwise negation.
    Negate,
    /// Elementwise e^x.
    Exponential,
    /// Elementwise natural logarithm.
    Log,
    /// Elementwise hyperbolic tangent.
    Tanh,
    /// Elementwise square root.
    Sqrt,
    /// Elementwise reciprocal square root.
    Rsqrt,
    /// Elementwise `x * Phi(x)`, Phi being the normal distribution function: one table of the scalar engine. XLA would write
    /// it with `erf`.
    Gelu,
    /// Elementwise derivative of [`Self::Gelu`]: another table of the scalar engine. XLA would write it with `erf` and `exponential`.
    GeluDerivative,
    /// Elementwise `1 / (1 + e^-x)`.
    Logistic,
    /// Reduces dimensions.
    Reduce {
        /// How elements are combined.
        kind: ReduceKind,
        /// The dimensions that disappear, ascending.
        dimensions: Vec<u32>,
    },
    /// Convolution of `[n, ci, h, w]` with weights `[co, ci / groups, kh, kw]` to `[n, co, oh, ow]`.
    Convolution {
        /// How the window moves, height first. A base dilation above one is a transposed convolution.
        window: [WindowDim; 2],
        /// Groups of channels that are convolved each on their own.
        feature_group_count: u64,
    },
    /// Pools `[n, c, h, w]` over the last two dimensions.
    ReduceWindow {
        /// How the elements under the window are combined; padding does not take part.
        kind: ReduceKind,
        /// How the window moves, height first.
        window: [WindowDim; 2],
    },
    /// The gradient of a maximum over windows: adds each element of the second operand to the largest element of the first under its
    /// window.
    SelectAndScatter {
        /// How the window moves, height first.
        window: [WindowDim; 2],
    },
    /// Adds rows to the rows of a table that integer indices name; operands table, indices, rows. The reverse of [`Self::Gather`].
    Scatter,
    /// The operand as the new value of a weight, which the next execution reads.
    Copy {
        /// The weight's path in the module tree.
        assigns: String,
    },
    /// Looks rows up: a table `[v, ..]` and integer indices `[i..]` give `[i.., ..]`. The one form of HLO's gather that
    /// embeddings need.
    Gather,
    /// Joins any number of operands.
    Concatenate {
        /// Along which dimension.
        dimension: u32,
    },
    /// The elements in a range of each dimension.
    Slice {
        /// One range for each dimension.
        ranges: Vec<SliceDim>,
    },
    /// Replaces a part of the first operand by the second. The others are integer scalars: the start of the part in each
    /// dimension.
    DynamicUpdateSlice,
    /// A custom operator of the framework, by name, with an elementwise meaning the evaluator knows (`relu`).
    CustomCall {
        /// Target name.
        target: String,
    },
    /// Another elementwise function.
    Elementwise(Elementwise),
    /// An operation with a known cost only; the evaluator does not compute it.
    Work(Work),
    /// Several instructions executed as one.
    Fusion(FusionBody),
    /// Several results as one.
    Tuple,
}

impl Opcode {
    /// The opcode's name in HLO text: `dot`, `maximum`, `custom-call`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Parameter { .. } => "parameter",
            Self::Constant(_) => "constant",
            Self::Dot(_) => "dot",
            Self::Transpose { .. } => "transpose",
            Self::Broadcast { .. } => "broadcast",
            Self::Reshape => "reshape",
            Self::Convert => "convert",
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::Negate => "negate",
            Self::Exponential => "exponential",
            Self::Log => "log",
            Self::Tanh => "tanh",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Gelu => "gelu",
            Self::GeluDerivative => "gelu-derivative",
            Self::SelectAndScatter { .. } => "select-and-scatter",
            Self::Scatter => "scatter",
            Self::Copy { .. } => "copy",
            Self::Logistic => "logistic",
            Self::Convolution { .. } => "convolution",
            Self::ReduceWindow { .. } => "reduce-window",
            Self::Gather => "gather",
            Self::Concatenate { .. } => "concatenate",
            Self::Slice { .. } => "slice",
            Self::DynamicUpdateSlice => "dynamic-update-slice",
            Self::Reduce { .. } => "reduce",
            Self::CustomCall { .. } | Self::Work(_) => "custom-call",
            Self::Elementwise(function) => function.name(),
            Self::Fusion(_) => "fusion",
            Self::Tuple => "tuple",
        }
    }

    /// Whether the result has the operand's elements, in another order or repeated.
    pub const fn is_view(&self) -> bool {
        matches!(
            self,
            Self::Transpose { .. } | Self::Broadcast { .. } | Self::Reshape | Self::Convert | Self::Slice { .. }
        )
    }

    /// Whether each element of the result depends only on the same element of each operand.
    pub const fn is_elementwise(&self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Subtract
                | Self::Multiply
                | Self::Divide
                | Self::Maximum
                | Self::Minimum
                | Self::Negate
                | Self::Exponential
                | Self::Log
                | Self::Tanh
                | Self::Sqrt
                | Self::Rsqrt
                | Self::Gelu
                | Self::GeluDerivative
                | Self::Logistic
                | Self::Convert
                | Self::Elementwise(_)
        )
    }
}

/// How an operation with a known cost is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkKind {
    /// Passes of the vector engine over the elements.
    Vector,
    /// Passes of the GpSimd engine over the elements.
    GpSimd,
    /// Elements that are written to device memory and read back in another order, one descriptor for each row.
    Move,
}

/// An operation whose cost is known but whose values are not: a sort, a scatter, an operator without a known meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Its name: HLO's opcode, or the operator's name in its framework.
    pub name: String,
    /// How it is executed.
    pub kind: WorkKind,
    /// Elements processed in one pass.
    pub elements: u64,
    /// Number of passes.
    pub passes: u32,
}
