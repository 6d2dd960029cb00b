//! Operations of a program, with XLA's meaning (<https://openxla.org/xla/operation_semantics>).

use serde::{Deserialize, Serialize};

use super::Value;

/// An elementwise function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names of HLO's opcodes")]
pub enum Unary {
    Abs,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cbrt,
    Ceil,
    Clz,
    Cos,
    Cosh,
    /// Of CHLO.
    Digamma,
    Erf,
    /// Of CHLO.
    ErfInv,
    /// Of CHLO.
    Erfc,
    Exp,
    ExpM1,
    Floor,
    Imag,
    IsFinite,
    /// Of CHLO and ONNX.
    IsInf,
    /// Of CHLO and ONNX.
    IsNan,
    /// Of CHLO.
    Lgamma,
    Log,
    Log1p,
    Logistic,
    Neg,
    Not,
    PopulationCount,
    Real,
    /// To nearest, halves away from zero.
    RoundHalfAway,
    /// To nearest, halves to even.
    RoundHalfEven,
    Rsqrt,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Square,
    Tan,
    Tanh,
}

impl Unary {
    /// The opcode in HLO text; of functions that only CHLO has, a name of the same style.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Acos => "acos",
            Self::Acosh => "acosh",
            Self::Asin => "asin",
            Self::Asinh => "asinh",
            Self::Atan => "atan",
            Self::Atanh => "atanh",
            Self::Cbrt => "cbrt",
            Self::Ceil => "ceil",
            Self::Clz => "count-leading-zeros",
            Self::Cos => "cosine",
            Self::Cosh => "cosh",
            Self::Digamma => "digamma",
            Self::Erf => "erf",
            Self::ErfInv => "erf-inv",
            Self::Erfc => "erfc",
            Self::Exp => "exponential",
            Self::ExpM1 => "exponential-minus-one",
            Self::Floor => "floor",
            Self::Imag => "imag",
            Self::IsFinite => "is-finite",
            Self::IsInf => "is-inf",
            Self::IsNan => "is-nan",
            Self::Lgamma => "lgamma",
            Self::Log => "log",
            Self::Log1p => "log-plus-one",
            Self::Logistic => "logistic",
            Self::Neg => "negate",
            Self::Not => "not",
            Self::PopulationCount => "popcnt",
            Self::Real => "real",
            Self::RoundHalfAway => "round-nearest-afz",
            Self::RoundHalfEven => "round-nearest-even",
            Self::Rsqrt => "rsqrt",
            Self::Sign => "sign",
            Self::Sin => "sine",
            Self::Sinh => "sinh",
            Self::Sqrt => "sqrt",
            Self::Square => "square",
            Self::Tan => "tan",
            Self::Tanh => "tanh",
        }
    }
}

/// An elementwise function of two operands of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names of HLO's opcodes")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// Sign of the dividend.
    Rem,
    Max,
    Min,
    Pow,
    Atan2,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    /// Real and imaginary part.
    Complex,
}

impl Binary {
    /// The opcode in HLO text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "subtract",
            Self::Mul => "multiply",
            Self::Div => "divide",
            Self::Rem => "remainder",
            Self::Max => "maximum",
            Self::Min => "minimum",
            Self::Pow => "power",
            Self::Atan2 => "atan2",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::ShiftLeft => "shift-left",
            Self::ShiftRightArithmetic => "shift-right-arithmetic",
            Self::ShiftRightLogical => "shift-right-logical",
            Self::Complex => "complex",
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names of HLO's comparisons")]
pub enum Comparison {
    Eq,
    Ne,
    Ge,
    Gt,
    Le,
    Lt,
}

/// How a window moves along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowDim {
    /// Elements under it.
    pub size: u64,
    /// Step.
    pub stride: u64,
    /// Elements added in front; negative ones are cut off.
    pub pad_low: i64,
    /// Elements added behind.
    pub pad_high: i64,
    /// Distance between elements of the window, 1 for neighbours.
    pub window_dilation: u64,
    /// Distance between elements of the operand; above 1 for transposed convolutions.
    pub base_dilation: u64,
    /// Whether the window is turned around.
    pub is_reversed: bool,
}

impl WindowDim {
    /// A window of one element.
    pub const ONE: Self =
        Self { size: 1, stride: 1, pad_low: 0, pad_high: 0, window_dilation: 1, base_dilation: 1, is_reversed: false };
}

/// Dimensions of a product: contracted ones and those of a batch, pairwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DotDims {
    /// Contracted dimensions of the left side.
    pub lhs_contracting: Vec<u32>,
    /// Of the right side.
    pub rhs_contracting: Vec<u32>,
    /// Batch dimensions of the left side.
    pub lhs_batch: Vec<u32>,
    /// Of the right side.
    pub rhs_batch: Vec<u32>,
}

/// What a dimension of a convolution's operands and result is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvolutionDims {
    /// Batch, channel and spatial dimensions of the input.
    pub input: (u32, u32, Vec<u32>),
    /// Input channels, output channels and spatial dimensions of the kernel.
    pub kernel: (u32, u32, Vec<u32>),
    /// Batch, channel and spatial dimensions of the result.
    pub output: (u32, u32, Vec<u32>),
}

/// Dimensions of a gather.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatherDims {
    /// Dimensions of the result that come from a slice.
    pub offset_dims: Vec<u32>,
    /// Dimensions of a slice, of size one, that the result does not have.
    pub collapsed_slice_dims: Vec<u32>,
    /// Which dimension of the operand each number of an index is for.
    pub start_index_map: Vec<u32>,
    /// Which dimension of the indices holds an index.
    pub index_vector_dim: u32,
    /// Batch dimensions of the operand and of the indices, pairwise.
    pub operand_batching_dims: Vec<u32>,
    /// Of the indices.
    pub start_indices_batching_dims: Vec<u32>,
    /// Sizes of a slice.
    pub slice_sizes: Vec<u64>,
}

/// Dimensions of a scatter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScatterDims {
    /// Dimensions of the updates that are a window.
    pub update_window_dims: Vec<u32>,
    /// Dimensions of the operand that a window does not have.
    pub inserted_window_dims: Vec<u32>,
    /// Which dimension of the operand each number of an index is for.
    pub scatter_dims_to_operand_dims: Vec<u32>,
    /// Which dimension of the indices holds an index.
    pub index_vector_dim: u32,
    /// Batch dimensions of the operand and of the indices, pairwise.
    pub input_batching_dims: Vec<u32>,
    /// Of the indices.
    pub scatter_indices_batching_dims: Vec<u32>,
}

/// What a custom call or an operator without a known meaning carries along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// Its name: a custom call's target, an operator's name in its framework.
    pub name: String,
    /// Its settings as text.
    pub config: String,
}

/// What an instruction does. Computations that it calls are the instruction's `called`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// The `n`-th parameter of its computation.
    Parameter(u32),
    /// Numbers that the file holds.
    Constant(Box<Value>),
    /// Numbers that the file leaves out (`constant({...})`): only their type is known.
    ElidedConstant,
    /// 0, 1, 2 .. along a dimension.
    Iota {
        /// The dimension.
        dimension: u32,
    },
    /// An elementwise function.
    Unary(Unary),
    /// An elementwise function.
    Binary(Binary),
    /// An elementwise comparison.
    Compare(Comparison),
    /// The second operand where the first is true, else the third. The first may be one value.
    Select,
    /// The second operand, not below the first and not above the third, which may be one value each.
    Clamp,
    /// Another element type.
    Convert,
    /// The same bits as another element type.
    BitcastConvert,
    /// Fewer bits of exponent and mantissa.
    ReducePrecision {
        /// Bits of the exponent.
        exponent_bits: u32,
        /// Bits of the mantissa.
        mantissa_bits: u32,
    },
    /// Operand dimension `i` becomes result dimension `dimensions[i]`; the others repeat. A dimension of size one may repeat too.
    Broadcast {
        /// Where each operand dimension goes.
        dimensions: Vec<u32>,
    },
    /// Same elements, other dimensions.
    Reshape,
    /// Result dimension `i` is operand dimension `permutation[i]`.
    Transpose {
        /// The permutation.
        permutation: Vec<u32>,
    },
    /// Turns dimensions around.
    Reverse {
        /// Which.
        dimensions: Vec<u32>,
    },
    /// A range of each dimension.
    Slice {
        /// First elements.
        starts: Vec<u64>,
        /// One beyond the last.
        limits: Vec<u64>,
        /// Steps.
        strides: Vec<u64>,
    },
    /// Adds elements (the second operand) in front, behind and between; negative numbers take away.
    Pad {
        /// Of each dimension.
        low: Vec<i64>,
        /// Of each dimension.
        high: Vec<i64>,
        /// Of each dimension.
        interior: Vec<u64>,
    },
    /// Joins operands.
    Concatenate {
        /// Along which dimension.
        dimension: u32,
    },
    /// A part of the first operand that begins at the others.
    DynamicSlice {
        /// Its sizes.
        sizes: Vec<u64>,
    },
    /// The first operand with the second put in where the others say.
    DynamicUpdateSlice,
    /// Slices of the first operand at indices of the second.
    Gather(GatherDims),
    /// The first operands with updates put in at indices; what is there and what comes is combined by the called computation.
    /// Operands: `n` arrays, indices, `n` updates.
    Scatter(ScatterDims),
    /// A product of matrices.
    Dot(DotDims),
    /// A convolution.
    Convolution {
        /// How the window moves along each spatial dimension.
        window: Vec<WindowDim>,
        /// Which dimension is what.
        dims: ConvolutionDims,
        /// Groups of channels.
        feature_group_count: u64,
        /// Groups of the batch.
        batch_group_count: u64,
    },
    /// Combines elements along dimensions with the called computation. Operands: `n` arrays, `n` first values.
    Reduce {
        /// Dimensions that disappear.
        dimensions: Vec<u32>,
    },
    /// Combines elements under a window with the called computation. Operands as of a reduction.
    ReduceWindow {
        /// How the window moves along each dimension.
        window: Vec<WindowDim>,
    },
    /// Puts values back where a window had its chosen element. Operands: array, source, first value; called: select, scatter.
    SelectAndScatter {
        /// How the window moves along each dimension.
        window: Vec<WindowDim>,
    },
    /// Sorts along a dimension; the called computation says whether one comes before another.
    Sort {
        /// The dimension.
        dimension: u32,
        /// Whether equal elements keep their order.
        is_stable: bool,
    },
    /// The `k` largest or smallest along the last dimension, and where they are.
    TopK {
        /// How many.
        k: u64,
        /// Whether the largest.
        is_largest: bool,
    },
    /// Batch normalisation with known mean and variance; operands x, scale, offset, mean, variance.
    BatchNormInference {
        /// Added to the variance.
        epsilon: f32,
        /// The channel dimension.
        feature: u32,
    },
    /// Batch normalisation with the batch's own mean and variance; gives the result, mean and variance.
    BatchNormTraining {
        /// Added to the variance.
        epsilon: f32,
        /// The channel dimension.
        feature: u32,
    },
    /// Gradient of [`Self::BatchNormTraining`]; operands x, scale, mean, variance, gradient.
    BatchNormGrad {
        /// Added to the variance.
        epsilon: f32,
        /// The channel dimension.
        feature: u32,
    },
    /// Several values as one.
    Tuple,
    /// One of several values.
    GetTupleElement(u32),
    /// Calls a computation; also a fusion.
    Call,
    /// Calls the second computation while the first is true.
    While,
    /// Calls one of several computations: by a boolean (true first) or a number.
    Conditional,
    /// Applies a computation of numbers to each element.
    Map,
    /// A Fourier transform of the last dimensions.
    Fft {
        /// `FFT`, `IFFT`, `RFFT`, `IRFFT`.
        kind: String,
        /// Sizes of those dimensions.
        length: Vec<u64>,
    },
    /// Random numbers of a distribution between or around two operands: `rng_uniform`, `rng_normal`.
    Rng {
        /// Which.
        distribution: String,
    },
    /// A state and random bits made of it.
    RngBitGenerator {
        /// `rng_default`, `rng_three_fry`, `rng_philox`.
        algorithm: String,
    },
    /// Size of a dimension.
    GetDimensionSize {
        /// The dimension.
        dimension: u32,
    },
    /// A call of something outside the program; some names have a known meaning.
    CustomCall(Foreign),
    /// An operation between cores (all-reduce, all-gather ...), by HLO's name.
    Collective(Foreign),
    /// Passes its operands on: an order, a mark, a barrier.
    Barrier,
    /// An operation without a known meaning whose result type is known.
    Opaque(Foreign),
}
