//! Operations of a program, with XLA's meaning (<https://openxla.org/xla/operation_semantics>).

use serde::{Deserialize, Serialize};

use super::Value;
use ns_base::names;

names! {
    /// An elementwise function of one operand.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[allow(missing_docs, reason = "the names of HLO's opcodes")]
    pub enum Unary {
        Abs = "abs",
        Acos = "acos",
        Acosh = "acosh",
        Asin = "asin",
        Asinh = "asinh",
        Atan = "atan",
        Atanh = "atanh",
        Cbrt = "cbrt",
        Ceil = "ceil",
        Clz = "count-leading-zeros",
        Cos = "cosine",
        Cosh = "cosh",
        /// From CHLO.
        Digamma = "digamma",
        Erf = "erf",
        /// From CHLO.
        ErfInv = "erf-inv",
        /// From CHLO.
        Erfc = "erfc",
        Exp = "exponential",
        ExpM1 = "exponential-minus-one",
        Floor = "floor",
        Imag = "imag",
        IsFinite = "is-finite",
        /// From CHLO and ONNX.
        IsInf = "is-inf",
        /// From CHLO and ONNX.
        IsNan = "is-nan",
        /// From CHLO.
        Lgamma = "lgamma",
        Log = "log",
        Log1p = "log-plus-one",
        Logistic = "logistic",
        Neg = "negate",
        Not = "not",
        PopulationCount = "popcnt",
        Real = "real",
        /// To nearest, halves away from zero.
        RoundHalfAway = "round-nearest-afz",
        /// To nearest, halves to even.
        RoundHalfEven = "round-nearest-even",
        Rsqrt = "rsqrt",
        Sign = "sign",
        Sin = "sine",
        Sinh = "sinh",
        Sqrt = "sqrt",
        Square = "square",
        Tan = "tan",
        Tanh = "tanh",
    }

    /// Every function.
    pub const ALL: [Self; _];
    /// Its opcode in HLO text; functions that only CHLO has get a name of the same style.
    pub const fn name(self) -> &'static str;
    /// The function with an opcode.
    pub fn from_name(name: &str) -> Option<Self>;
}

names! {
    /// An elementwise function of two operands of one shape.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[allow(missing_docs, reason = "the names of HLO's opcodes")]
    pub enum Binary {
        Add = "add",
        Sub = "subtract",
        Mul = "multiply",
        Div = "divide",
        /// The remainder has the sign of the dividend.
        Rem = "remainder",
        Max = "maximum",
        Min = "minimum",
        Pow = "power",
        Atan2 = "atan2",
        And = "and",
        Or = "or",
        Xor = "xor",
        ShiftLeft = "shift-left",
        ShiftRightArithmetic = "shift-right-arithmetic",
        ShiftRightLogical = "shift-right-logical",
        /// Joins real and imaginary part.
        Complex = "complex",
    }

    /// Every function.
    pub const ALL: [Self; _];
    /// Its opcode in HLO text.
    pub const fn name(self) -> &'static str;
    /// The function with an opcode.
    pub fn from_name(name: &str) -> Option<Self>;
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

impl Comparison {
    /// Whether it holds for two values; of those without an order, only that they differ.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Ge => a >= b,
            Self::Gt => a > b,
            Self::Le => a <= b,
            Self::Lt => a < b,
        }
    }
}

/// How a window moves along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowDim {
    /// Elements under it.
    pub size: u64,
    pub stride: u64,
    /// Elements added in front; a negative number removes elements.
    pub pad_low: i64,
    /// Elements added behind.
    pub pad_high: i64,
    /// Distance between elements of the window, 1 for neighbours.
    pub window_dilation: u64,
    /// Distance between elements of the operand; above 1 for transposed convolutions.
    pub base_dilation: u64,
    pub is_reversed: bool,
}

impl WindowDim {
    /// A window of one element.
    pub const ONE: Self =
        Self { size: 1, stride: 1, pad_low: 0, pad_high: 0, window_dilation: 1, base_dilation: 1, is_reversed: false };
}

/// Dimensions of a product: contracted dimensions and batch dimensions, each as pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DotDims {
    /// Contracted dimensions of the left side.
    pub lhs_contracting: Vec<u32>,
    /// Contracted dimensions of the right side.
    pub rhs_contracting: Vec<u32>,
    /// Batch dimensions of the left side.
    pub lhs_batch: Vec<u32>,
    /// Batch dimensions of the right side.
    pub rhs_batch: Vec<u32>,
}

/// The role of each dimension of a convolution's operands and result.
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
    /// Dimensions of a slice, of size one, that are dropped from the result.
    pub collapsed_slice_dims: Vec<u32>,
    /// The operand's dimension that each number of an index is for.
    pub start_index_map: Vec<u32>,
    /// The dimension of the indices that holds an index.
    pub index_vector_dim: u32,
    /// Batch dimensions of the operand, paired with those of the indices.
    pub operand_batching_dims: Vec<u32>,
    /// Batch dimensions of the indices.
    pub start_indices_batching_dims: Vec<u32>,
    pub slice_sizes: Vec<u64>,
}

/// Dimensions of a scatter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScatterDims {
    /// Dimensions of the updates that are a window.
    pub update_window_dims: Vec<u32>,
    /// Dimensions of the operand that are not in a window.
    pub inserted_window_dims: Vec<u32>,
    /// The operand's dimension that each number of an index is for.
    pub scatter_dims_to_operand_dims: Vec<u32>,
    /// The dimension of the indices that holds an index.
    pub index_vector_dim: u32,
    /// Batch dimensions of the operand, paired with those of the indices.
    pub input_batching_dims: Vec<u32>,
    /// Batch dimensions of the indices.
    pub scatter_indices_batching_dims: Vec<u32>,
}

/// Name and settings of a custom call or of an operator without a known meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// Its name: a custom call's target, an operator's name in its framework.
    pub name: String,
    /// Its settings as text.
    pub config: String,
}

/// What an instruction does. The computations that it calls are in the instruction's `called`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// The `n`-th parameter of its computation.
    Parameter(u32),
    /// A constant whose numbers the file holds.
    Constant(Box<Value>),
    /// A constant whose numbers the file leaves out (`constant({...})`): only its type is known.
    ElidedConstant,
    /// 0, 1, 2 .. along a dimension.
    Iota {
        dimension: u32,
    },
    /// An elementwise function of one operand.
    Unary(Unary),
    /// An elementwise function of two operands.
    Binary(Binary),
    Compare(Comparison),
    /// The second operand where the first is true, else the third. The first may be a single value.
    Select,
    /// The second operand, clamped to the first and the third, each of which may be a single value.
    Clamp,
    /// Converts to another element type.
    Convert,
    /// Reads the same bits as another element type.
    BitcastConvert,
    /// Rounds to fewer bits of exponent and mantissa.
    ReducePrecision {
        exponent_bits: u32,
        mantissa_bits: u32,
    },
    /// Operand dimension `i` becomes result dimension `dimensions[i]`; the operand repeats along the others. A dimension of size one may repeat too.
    Broadcast {
        /// Where each operand dimension goes.
        dimensions: Vec<u32>,
    },
    /// Same elements, other dimensions.
    Reshape,
    /// Result dimension `i` is operand dimension `permutation[i]`.
    Transpose {
        permutation: Vec<u32>,
    },
    /// Reverses dimensions.
    Reverse {
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
    /// Adds elements (the second operand) in front, behind and between; negative numbers remove elements.
    Pad {
        /// Number in front, for each dimension.
        low: Vec<i64>,
        /// Number behind, for each dimension.
        high: Vec<i64>,
        /// Number between neighbours, for each dimension.
        interior: Vec<u64>,
    },
    /// Joins operands along a dimension.
    Concatenate {
        dimension: u32,
    },
    /// A part of the first operand that begins at the indices in the other operands.
    DynamicSlice {
        sizes: Vec<u64>,
    },
    /// The first operand with the second written at the indices in the other operands.
    DynamicUpdateSlice,
    /// Slices of the first operand at the indices in the second.
    Gather(GatherDims),
    /// The first operands with updates written at indices; the called computation combines the present and the new element.
    /// Operands: `n` arrays, indices, `n` updates.
    Scatter(ScatterDims),
    /// A product of matrices.
    Dot(DotDims),
    Convolution {
        /// How the window moves along each spatial dimension.
        window: Vec<WindowDim>,
        /// The role of each dimension.
        dims: ConvolutionDims,
        /// Groups of channels.
        feature_group_count: u64,
        batch_group_count: u64,
    },
    /// Combines elements along dimensions with the called computation. Operands: `n` arrays, `n` initial values.
    Reduce {
        /// Dimensions that disappear.
        dimensions: Vec<u32>,
    },
    /// Combines elements under a window with the called computation. Operands as for a reduction.
    ReduceWindow {
        /// How the window moves along each dimension.
        window: Vec<WindowDim>,
    },
    /// Adds each value at the element that its window chose. Operands: array, source, initial value; called: select, scatter.
    SelectAndScatter {
        /// How the window moves along each dimension.
        window: Vec<WindowDim>,
    },
    /// Sorts along a dimension; the called computation says whether one comes before another.
    Sort {
        dimension: u32,
        /// Whether equal elements keep their order.
        is_stable: bool,
    },
    /// The `k` largest or smallest elements along the last dimension, and their positions.
    TopK {
        /// `k`.
        k: u64,
        /// Whether to take the largest.
        is_largest: bool,
    },
    /// Batch normalisation with known mean and variance; operands x, scale, offset, mean, variance.
    BatchNormInference {
        /// Added to the variance.
        epsilon: f32,
        feature: u32,
    },
    /// Batch normalisation with the batch's own mean and variance; gives the result, mean and variance.
    BatchNormTraining {
        /// Added to the variance.
        epsilon: f32,
        feature: u32,
    },
    /// Gradient of [`Self::BatchNormTraining`]; operands x, scale, mean, variance, gradient.
    BatchNormGrad {
        /// Added to the variance.
        epsilon: f32,
        feature: u32,
    },
    /// Makes a tuple of several values.
    Tuple,
    /// One element of a tuple.
    GetTupleElement(u32),
    /// Calls a computation; also a fusion.
    Call,
    /// Calls the second computation while the first returns true.
    While,
    /// Calls one of several computations, chosen by a boolean (true first) or a number.
    Conditional,
    /// Applies a computation of single numbers to each element.
    Map,
    /// A Fourier transform of the last dimensions.
    Fft {
        /// `FFT`, `IFFT`, `RFFT`, `IRFFT`.
        kind: String,
        /// Sizes of the transformed dimensions.
        length: Vec<u64>,
    },
    /// Random numbers from a distribution with two operands, such as its bounds: `rng_uniform`, `rng_normal`.
    Rng {
        distribution: String,
    },
    /// Random bits made from a state, and the next state.
    RngBitGenerator {
        /// `rng_default`, `rng_three_fry`, `rng_philox`.
        algorithm: String,
    },
    GetDimensionSize {
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
